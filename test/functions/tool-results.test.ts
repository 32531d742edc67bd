import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { getObject } from '../../lib/data/objects.ts'
import { MAX_FILENAME_CHARS } from '../../lib/media/limits.ts'
import { defineTool, type Middleware } from '../../lib/tool/define.ts'
import { result } from '../../lib/tool/result.ts'
import { MAX_RESULT_SIZE } from '../../lib/tool/serialize.ts'
import { setting } from '../../lib/tool/setting.ts'
import { dataOf, snapshot, startWorld, type World } from '../world.ts'

const SECRET = 'canary-secret-ü-4711'
/** A Blob's type is written small. */
const MIXED = 'Canary-Key-4711'
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

const cyclic: Error & { self?: unknown } = new Error('It goes round.')
cyclic.self = cyclic

/** What operations return or throw, by name. */
const RETURNS: Record<string, () => unknown> = {
  nothing: () => undefined,
  map: () => new Map([['a', new Set([1n])]]),
  promise: () => ({ a: Promise.resolve(1) }),
  loop: () => {
    const loop: Record<string, unknown> = { a: 1 }
    loop.self = loop
    return loop
  },
  huge: () => 'x'.repeat(100 * 1024 * 1024),
  endless: async function* () {
    for (;;) yield 'x'.repeat(1024 * 1024)
  },
  long: () => `${'long '.repeat(30_000)}end`,
  picture: () => PNG,
  getter: () => ({
    get a() {
      throw new Error('A field that fails.')
    },
  }),
  text: () => {
    throw 'Just a text.'
  },
  undefined: () => {
    throw undefined
  },
  cyclic: () => {
    throw cyclic
  },
  strange: () => {
    throw new Proxy(
      {},
      {
        getPrototypeOf: () => {
          throw new Error('Not even this.')
        },
      },
    )
  },
}

let calls: string[] = []
const tracing: Middleware = async ({ call }, next) => {
  calls.push(`before ${call.operation}`)
  const value = await next()
  // Asking again is not running again.
  expect(await next()).toBe(value)
  calls.push(`after ${call.operation}`)
  return value
}

const operation = (name: string, run: () => unknown) => ({
  description: name,
  parameters: z.object({}),
  effect: 'once' as const,
  describe: () => name,
  execute: () => {
    calls.push(`run ${name}`)
    return run()
  },
})

const teller = defineTool({
  name: 'teller',
  description: 'Returns and throws all kinds of things.',
  operations: Object.fromEntries(
    Object.entries(RETURNS).map(([name, run]) => [name, operation(name, run)]),
  ),
})

const painter = defineTool({
  name: 'painter',
  description: 'Makes files.',
  settings: { key: setting.password({ label: 'Key' }) },
  middleware: [
    tracing,
    (context, next) => {
      if (context.call.operation === 'refuse') throw new Error(`Not with ${context.settings.key}.`)
      return next()
    },
    async (_, next) => {
      const value = await next()
      return value === 'replace me' ? 'replaced' : value
    },
  ],
  operations: {
    paint: {
      ...operation('paint', () =>
        result({ content: 'Painted.', media: [new File([PNG], 'a.png')] }),
      ),
      touches: ['media', 'bucket'],
    },
    plain: { ...operation('plain', () => ({ picture: PNG })), touches: ['media', 'bucket'] },
    disguise: {
      ...operation('disguise', () => [
        new File(['<script>'], `/tmp/\u202e${MIXED}\r\n.html`, {
          type: 'Text/HTML; charset=utf-8',
        }),
        new Blob(['<x/>'], { type: 'application/rss+xml; charset=utf-8' }),
        new Blob(['x'], { type: `text/${MIXED}` }),
        new File(['y'], `${'y'.repeat(500_000)}.txt`, { type: 'text/plain' }),
      ]),
      touches: ['media', 'bucket'],
    },
    leak: operation('leak', () => new File([`key=${SECRET};`, PNG], `${SECRET}.bin`)),
    refuse: operation('refuse', () => 'never'),
    replace: operation('replace', () => 'replace me'),
  },
})

let world: World
let agent: string
beforeAll(async () => {
  world = await startWorld([teller, painter])
  agent = await world.createAgent(['teller', 'painter', 'tool_results', 'media'])
})
afterAll(() => world.stop())

type Outcome = {
  status: string
  is_error: boolean
  content: string
  data?: unknown
  media?: string[]
}

let count = 0
const run = async (operation: string, body: object = {}): Promise<Outcome> =>
  dataOf(
    await world.run(agent, operation, body, { headers: { 'idempotency-key': `key-${count++}` } }),
  )

describe('what a tool returns', () => {
  it.each([
    ['nothing', 'No result returned.'],
    ['map', '{"a":["1"]}'],
    ['promise', '{"a":1}'],
    ['loop', '{"a":1,"self":"[contains itself]"}'],
  ])('%s becomes text for the model', async (name, content) => {
    expect(await run(`teller.${name}`)).toMatchObject({
      status: 'COMPLETED',
      is_error: false,
      content,
    })
  })

  it.each([
    ['huge', `more than ${MAX_RESULT_SIZE}`],
    ['endless', `more than ${MAX_RESULT_SIZE}`],
    ['getter', 'A field that fails.'],
  ])('%s is an error that says that the operation ran', async (name, words) => {
    const outcome = await run(`teller.${name}`)
    expect(outcome).toMatchObject({ status: 'FAILED', is_error: true })
    expect(outcome.content).toMatch(/The operation ran, .* would repeat its effect\./s)
    expect(outcome.content).toContain(words)
  })

  it.each([
    ['text', 'Just a text.'],
    ['undefined', 'The tool failed without saying why.'],
    ['cyclic', 'It goes round.'],
    ['strange', 'The tool failed without saying why.'],
  ])('thrown, %s is an error and no more', async (name, content) => {
    expect(await run(`teller.${name}`)).toMatchObject({ status: 'FAILED', is_error: true, content })
  })

  it('stops no task, whatever it is', async () => {
    const lines = Object.keys(RETURNS).flatMap(name => [`/teller ${name} {}`, ''])
    const patient = await world.createAgent(['teller'], { max_steps: 50 })
    const task = await world.untilTask(
      await world.createTask(patient, ...lines),
      'COMPLETED',
      'FAILED',
    )
    expect(task.status).toBe('COMPLETED')
    expect(task.tool_calls).toHaveLength(Object.keys(RETURNS).length)
  })
})

describe('a result that is too long', () => {
  it('is kept whole, and read on by its name', async () => {
    const note = JSON.parse((await run('teller.long')).content)
    expect(note).toMatchObject({
      truncated: true,
      original_size_chars: 150_003,
      cap_chars: 100_000,
    })
    let text = ''
    let offset: number | null = 0
    while (offset !== null) {
      const body = { full_output: note.full_output, offset, max_chars: 64_000 }
      const part = JSON.parse((await run('tool_results.read', body)).content)
      text += part.text
      offset = part.next_offset
    }
    expect(text).toBe(RETURNS.long?.())
  })

  it('is opened by people under the call, and by nobody else', async () => {
    const { full_output } = JSON.parse((await run('teller.long')).content)
    const where = `/api/v1/tool-calls/${full_output.replace('results/', '').replace('/', '/outputs/')}`
    const answer = await world.request('GET', where)
    expect(answer.status).toBe(302)
    const stored = await fetch(answer.headers.get('location') ?? '')
    expect(stored.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await stored.text()).toBe(RETURNS.long?.())
    const { key } = await world.createPerson()
    expect((await world.request('GET', where, { key })).status).toBe(404)
    const other = where.replace(/.{64}$/, '0'.repeat(64))
    expect((await world.request('GET', other)).status).toBe(404)
  })

  it('is read by the agent alone whose call it was', async () => {
    const { full_output } = JSON.parse((await run('teller.long')).content)
    const stranger = await world.createAgent(['tool_results'])
    const answer = await world.run(stranger, 'tool_results.read', { full_output })
    expect(answer.body.data).toMatchObject({ is_error: true })
    expect(answer.text).toContain('There is no result')
  })

  it.each([
    ['another object', 'media/user_x/media_x'],
    ['a way out', 'results/../media/x'],
    ['nothing', `results/call_01ARZ3NDEKTSV4RRFFQ69G5FAV/${'0'.repeat(64)}`],
  ])('is not to be had by the name of %s', async (_, full_output) => {
    expect(await run('tool_results.read', { full_output })).toMatchObject({ is_error: true })
  })

  it('has no part past its end', async () => {
    const { full_output } = JSON.parse((await run('teller.long')).content)
    const past = await run('tool_results.read', { full_output, offset: 150_004 })
    expect(past).toMatchObject({ is_error: true, content: expect.stringContaining('150003') })
    const end = await run('tool_results.read', { full_output, offset: 150_003 })
    expect(JSON.parse(end.content)).toEqual({ text: '', total_chars: 150_003, next_offset: null })
  })
})

describe('bytes that a tool returns', () => {
  it('become an asset of the agent’s owner, where the operation may touch media', async () => {
    const painted = await run('painter.paint')
    expect(painted).toMatchObject({
      content: 'Painted.',
      media: [expect.stringMatching(/^media_/)],
    })
    const asset = dataOf(await world.request('GET', `/api/v1/media/${painted.media?.[0]}`))
    expect(asset).toMatchObject({
      agent_id: agent,
      filename: 'a.png',
      mime_type: 'image/png',
      bytes: PNG.length,
    })
    const link = await world.request('GET', `/api/v1/assets/${painted.media?.[0]}`)
    const stored = await fetch(link.headers.get('location') ?? '')
    expect(Buffer.from(await stored.arrayBuffer())).toEqual(PNG)
  })

  it('are named in the text, and their kind is known by what they begin with', async () => {
    const { content, media } = await run('painter.plain')
    expect(JSON.parse(content)).toEqual({
      picture: { media_id: media?.[0], filename: 'result.png', mime_type: 'image/png', bytes: 16 },
    })
  })

  it('are kept beside the call where the operation may not touch media', async () => {
    const { content, media } = await run('teller.picture')
    expect(media).toBeUndefined()
    const { full_output, ...facts } = JSON.parse(content)
    expect(facts).toEqual({ filename: 'result.png', mime_type: 'image/png', bytes: 16 })
    expect(Buffer.from((await getObject(full_output)) ?? [])).toEqual(PNG)
    expect(await run('tool_results.read', { full_output })).toMatchObject({
      is_error: true,
      content: expect.stringContaining('no text'),
    })
  })

  it('lose the secrets that the call received, and their name does, too', async () => {
    await world.setSettings(agent, 'painter', { key: SECRET })
    const { content } = await run('painter.leak')
    const { full_output, filename } = JSON.parse(content)
    expect(filename).toBe('***.bin')
    const stored = Buffer.from((await getObject(full_output)) ?? [])
    expect(stored).toEqual(Buffer.concat([Buffer.from('key=***;'), PNG]))
    expect(JSON.stringify(await snapshot())).not.toContain(SECRET)
  })
})

describe('a file that a tool returns', () => {
  it('has a name that shows, no parameters in its type, and runs nothing in a browser', async () => {
    await world.setSettings(agent, 'painter', { key: MIXED })
    const { content, media = [] } = await run('painter.disguise')
    const files: { filename: string; mime_type: string }[] = JSON.parse(content)
    expect(files.map(({ filename }) => filename)).toEqual([
      '***.html',
      'result.bin',
      'result.bin',
      `${'y'.repeat(MAX_FILENAME_CHARS - 4)}.txt`,
    ])
    const types = ['text/html', 'application/rss+xml', 'application/octet-stream', 'text/plain']
    expect(files.map(({ mime_type }) => mime_type)).toEqual(types)
    const links = await Promise.all(
      media.map(id => world.request('GET', `/api/v1/assets/${id}`).then(link => link.headers)),
    )
    const shown = await Promise.all(links.map(link => fetch(link.get('location') ?? '')))
    const ways = shown.map(file => file.headers.get('content-disposition')?.split(';')[0])
    expect(ways).toEqual(['attachment', 'attachment', 'inline', 'inline'])
  })
})

describe('middleware', () => {
  it('wraps the run, the first outermost, and runs it once', async () => {
    calls = []
    expect(await run('painter.replace')).toMatchObject({ content: 'replaced' })
    expect(calls).toEqual(['before replace', 'run replace', 'after replace'])
  })

  it('ends the call with what it throws, without its secrets, and nothing runs', async () => {
    await world.setSettings(agent, 'painter', { key: SECRET })
    calls = []
    expect(await run('painter.refuse')).toMatchObject({ is_error: true, content: 'Not with ***.' })
    expect(calls).toEqual(['before refuse'])
  })
})
