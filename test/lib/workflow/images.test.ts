import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as z from 'zod'
import { type Id, newId } from '../../../lib/core/ids.ts'
import { MAX_IMAGE_BYTES, MAX_IMAGES, MAX_IMAGES_BYTES } from '../../../lib/llm/images.ts'
import { createAsset, objectKeyOf } from '../../../lib/media/asset.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { result } from '../../../lib/tool/result.ts'
import { readConversation } from '../../../lib/workflow/conversation.ts'
import { imagesOf } from '../../../lib/workflow/images.ts'
import { messagesOf } from '../../../lib/workflow/messages.ts'
import { startWorld, type World } from '../../world.ts'
import { WIRES } from '../llm/wires.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const imageOf = (bytes: number) => Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length)])

const painter = defineTool({
  name: 'painter',
  description: 'Paints.',
  operations: {
    paint: {
      description: 'Paint.',
      parameters: z.object({ bytes: z.array(z.int().min(PNG.length)) }),
      effect: 'read',
      touches: ['media', 'bucket'],
      describe: () => 'Paint',
      // Each is another one: the same bytes of one call would be one asset.
      execute: ({ parameters }) =>
        result({
          content: 'Painted.',
          media: parameters.bytes.map((bytes, index) => imageOf(bytes).fill(index + 1, PNG.length)),
        }),
    },
    name: {
      description: 'Name.',
      parameters: z.object({ media_id: z.string() }),
      effect: 'read',
      describe: () => 'Name',
      execute: ({ parameters }) =>
        result({ content: 'Named.', media: [parameters.media_id as Id<'media'>] }),
    },
  },
})

let world: World
let agent: string
beforeAll(async () => {
  world = await startWorld([painter])
  agent = await world.createAgent(['painter'])
})
afterAll(() => world.stop())

const conversationOf = async (...lines: string[]) => {
  const id = await world.createTask(agent, ...lines.flatMap(line => [line, '']))
  await world.untilTask(id, 'COMPLETED')
  return readConversation(id)
}

const paint = (...bytes: number[]) => `/painter paint ${JSON.stringify({ bytes })}`

it('a model that takes images sees those that its calls made, with the answer that named them', async () => {
  const conversation = await conversationOf(paint(20, 21), paint(22))
  const images = await imagesOf(conversation, 'anthropic')
  const messages = await messagesOf(conversation, images)
  const answers = messages.flatMap(message => (message.role === 'tool' ? message.results : []))
  expect(answers.map(({ images }) => images?.map(({ bytes }) => bytes.byteLength))).toEqual([
    [20, 21],
    [22],
  ])
  expect(answers[0]?.images?.[0]).toEqual({
    mimeType: 'image/png',
    bytes: new Uint8Array(imageOf(20).fill(1, PNG.length)),
  })
})

it('a model that takes none sees none', async () => {
  const conversation = await conversationOf(paint(20))
  expect(await imagesOf(conversation, 'openai-compatible')).toEqual(new Map())
})

const sizesOf = async (...lines: string[]) =>
  [...(await imagesOf(await conversationOf(...lines), 'openai')).values()].map(
    ({ bytes }) => bytes.byteLength,
  )

it('the latest are shown where they are too many', async () => {
  const sizes = Array.from({ length: MAX_IMAGES }, (_, index) => 20 + index)
  expect(await sizesOf(paint(...sizes))).toHaveLength(MAX_IMAGES)
  expect((await sizesOf(paint(100), paint(...sizes))).sort()).toEqual(sizes.sort())
})

it('one that is too large is not shown, and neither is what no longer fits', async () => {
  expect(await sizesOf(paint(MAX_IMAGE_BYTES))).toEqual([MAX_IMAGE_BYTES])
  expect(await sizesOf(paint(MAX_IMAGE_BYTES + 1))).toEqual([])
  const fit = Math.floor(MAX_IMAGES_BYTES / MAX_IMAGE_BYTES)
  const rest = MAX_IMAGES_BYTES - fit * MAX_IMAGE_BYTES
  const large = Array(fit).fill(MAX_IMAGE_BYTES)
  expect(await sizesOf(paint(...large, rest + 1, rest))).toEqual([...large, rest])
})

it('an asset of another owner is not shown, whoever names it', async () => {
  const asset = await createAsset(
    { id: newId('media'), principalId: newId('user'), filename: 'a.png', mimeType: 'image/png' },
    PNG,
  )
  expect(objectKeyOf(asset)).toContain(asset.principalId)
  expect(await sizesOf(`/painter name {"media_id": "${asset.id}"}`)).toEqual([])
})

it('one whose bytes are gone is left out, and the rest is shown', async () => {
  const missing = newId('media')
  expect(await sizesOf(paint(20), `/painter name {"media_id": "${missing}"}`)).toEqual([20])
})

it('a model that refuses images is asked again without them, and the task goes on', async () => {
  const asked: boolean[] = []
  const answers = [
    { calls: [{ id: 'call_1', name: 'painter', pieces: ['{"action":"paint","bytes":[20]}'] }] },
    { text: 'I see nothing.' },
  ]
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    asked.push(body.includes('data:image/png'))
    if (asked.at(-1)) {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"This model does not support images."}}')
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(WIRES.openai({ ...answers.shift(), end: 'done' }).join(''))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  process.env.OPENAI_API_KEY = 'a-key-for-tests'
  const { port } = server.address() as AddressInfo
  const blind = await world.createAgent(['painter'], {
    model: { provider: 'openai', name: 'blind', base_url: `http://127.0.0.1:${port}/v1` },
  })
  const task = await world.untilTask(await world.createTask(blind, 'Paint.'), 'COMPLETED', 'FAILED')
  server.close()
  expect(task).toMatchObject({ status: 'COMPLETED', final_response: 'I see nothing.' })
  expect(asked).toEqual([false, true, false])
})
