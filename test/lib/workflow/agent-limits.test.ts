import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startWorld, type World } from '../../world.ts'
import { type Scripted, WIRES } from '../llm/wires.ts'

/** A model server that answers with the next of these, and the last for ever. */
let replies: Scripted[] = []
let asked: { tool_choice?: unknown; tools?: { function: { name: string } }[] }[] = []
let server: Server
let world: World
let model: object

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      asked.push(JSON.parse(Buffer.concat(chunks).toString()))
      const reply = replies[Math.min(asked.length, replies.length) - 1] ?? {
        text: 'Done.',
        end: 'done',
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(WIRES['openai-compatible'](reply).join(''))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  model = {
    provider: 'openai-compatible',
    name: 'local',
    base_url: `http://127.0.0.1:${port}/v1`,
  }
  world = await startWorld()
})
afterAll(async () => {
  await world.stop()
  server.close()
})
beforeEach(() => {
  asked = []
  replies = [fine]
})

const fine: Scripted = { text: 'Done.', end: 'done' }
const call = (nth: number): Scripted => ({
  calls: [{ id: `call_${nth}`, name: 'calculator', pieces: [`{"expression": "${nth} + 1"}`] }],
  end: 'done',
})

const run = async (tools: string[], fields: object, ...next: Scripted[]) => {
  replies = next
  const agent = await world.createAgent(tools, { model, ...fields })
  const id = await world.createTask(agent, 'Go.')
  return world.untilTask(id, 'COMPLETED', 'FAILED')
}

describe('a task’s tokens', () => {
  it('are counted over its steps: it fails before the step for which none are left', async () => {
    const { usage } = (await run(['calculator'], {}, call(1), fine)) as unknown as {
      usage: { input_tokens: number; output_tokens: number }
    }
    const ofTwo = usage.input_tokens + usage.output_tokens
    expect(ofTwo).toBeGreaterThan(1)
    for (const [max_tokens, steps, status] of [
      [ofTwo / 2, 1, 'FAILED'],
      [ofTwo / 2 + 1, 2, 'COMPLETED'],
    ] as const) {
      asked = []
      const task = await run(['calculator'], { max_tokens }, call(1), fine)
      expect(task.status).toBe(status)
      expect(asked).toHaveLength(steps)
      if (status === 'FAILED') expect(task.error).toMatchObject({ code: 'MAX_TOKENS' })
    }
  })
})

describe('an agent’s choice of tools', () => {
  const choices = () => asked.map(({ tool_choice }) => tool_choice)

  it.each([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [{ tool: 'calculator' }, { type: 'function', function: { name: 'calculator' } }],
  ])('%j holds for the first step alone', async (tool_choice, first) => {
    const task = await run(['calculator', 'time'], { tool_choice }, call(1), call(2), fine)
    expect(task.status).toBe('COMPLETED')
    expect(choices()).toEqual([first, 'auto', 'auto'])
  })

  it('of a tool that isn’t offered is none, and stands in the log', async () => {
    const task = await run(['time'], { tool_choice: { tool: 'calculator' } }, fine)
    expect(task.status).toBe('COMPLETED')
    expect(choices()).toEqual(['auto'])
    expect(world.logs).toContainEqual(
      expect.objectContaining({ event: 'tool-choice-not-offered', tool: 'calculator' }),
    )
  })

  it('is none where there are no tools', async () => {
    expect((await run([], { tool_choice: 'required' }, fine)).status).toBe('COMPLETED')
    expect(choices()).toEqual([undefined])
  })
})
