import { readdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { tools } from '../../functions/tools/index.ts'
import type { Id } from '../../lib/core/ids.ts'
import { PROVIDERS } from '../../lib/llm/model-reference.ts'
import { keyVariable } from '../../lib/llm/provider.ts'
import { configurationSource } from '../../lib/llm/sealed-keys.ts'
import { createStartPage } from '../../lib/local/start-page.ts'
import { rotate, settingsSource, survey } from '../../lib/settings/rotate.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { allTools } from '../../lib/tool/registry.ts'
import { setting } from '../../lib/tool/setting.ts'
import { WIRES } from '../lib/llm/wires.ts'
import { dataOf, snapshot, startWorld, type World } from '../world.ts'

// Every secret that an installation has is a word of its own; then much is done, and all that is
// kept, told, logged, asked or shown is searched for each of them.

const canaries: string[] = []
/** With what URLs, JSON and base64 write in other ways. */
const canary = (what: string): string => {
  const text = `Canary/${what} "n° ${canaries.length + 1}" & <more>+=`
  canaries.push(text)
  return text
}

/** One that a header can have in it. */
const headerCanary = (what: string): string => {
  const text = canary(what).replace(/[^\x21-\x7e]/g, '-')
  canaries.push(text)
  return text
}

const escaped = (text: string) => JSON.stringify(text).slice(1, -1)
const base64 = (text: string, offset: number) =>
  Buffer.concat([Buffer.alloc(offset), Buffer.from(text)])
    .toString('base64')
    // Its first and last characters are partly of its neighbours.
    .slice(offset === 0 ? 0 : 4, -4)

/** A secret as it is, JSON-escaped once and twice, URL-encoded, and in base64 wherever it begins. */
const formsOf = (text: string): string[] => {
  const encoded = [0, 1, 2].map(offset => base64(text, offset))
  return [
    ...[text, escaped(text), escaped(escaped(text)), escaped(text).replaceAll('/', '\\/')],
    ...[encodeURIComponent(text), encodeURI(text), encodeURIComponent(text).toLowerCase()],
    new URLSearchParams([['', text]]).toString().slice(1),
    ...encoded,
    ...encoded.map(form => form.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

const HOWS = ['result', 'error', 'base64', 'url', 'json', 'bytes', 'long', 'data', 'name'] as const

const vault = defineTool({
  name: 'vault',
  description: 'Tells what it should keep to itself.',
  settings: {
    token: setting.password({ label: 'Token', required: true }),
    second: setting.password({ label: 'Second', scope: 'principal' }),
    third: setting.password({ label: 'Third', scope: 'agent' }),
    region: setting.text({ label: 'Region', default: 'eu', exposeToLlm: true }),
    helpers: setting.multiSelect({ label: 'Helpers', resolveAs: 'agent', exposeToLlm: true }),
    breaks: setting.toggle({ label: 'Breaks', default: false }),
  },
  available: ({ settings }) => {
    if (settings.breaks) throw new Error(`It breaks on ${settings.token}`)
    return true
  },
  operations: Object.fromEntries(
    ['tell', 'ask'].map(name => [
      name,
      {
        description: 'Tell.',
        parameters: z.object({ how: z.enum(HOWS) }),
        effect: 'idempotent' as const,
        touches: ['media', 'bucket'] as const,
        requiresApprovalByDefault: name === 'ask',
        describe: ({ how }: { how: string }) => `Tell it as ${how}`,
        execute: ({ parameters, settings }: never) => tell(parameters, settings),
      },
    ]),
  ) as never,
})

const tell = ({ how }: { how: (typeof HOWS)[number] }, settings: Record<string, unknown>) => {
  const all = [settings.token, settings.second, settings.third].join(' | ')
  if (how === 'error') throw Object.assign(new Error(`It failed with ${all}`), { name: all })
  if (how === 'base64') return Buffer.from(all).toString('base64')
  if (how === 'url') return `https://example.com/?q=${encodeURIComponent(all)}`
  if (how === 'json') return JSON.stringify({ all: JSON.stringify({ all }) })
  if (how === 'bytes') return new File([all], 'all.txt', { type: 'text/plain' })
  if (how === 'long') return `${all} `.repeat(5_000)
  if (how === 'name') return { [all]: all }
  return { said: all }
}

let world: World
let model: { server: Server; url: string; asked: string[] }
const told: string[] = []

beforeAll(async () => {
  model = await startModel()
  for (const provider of PROVIDERS) {
    const variable = keyVariable(provider)
    if (variable) vi.stubEnv(variable, headerCanary(`key of ${provider}`))
  }
  const pages = createStartPage({
    tools: await allTools(tools),
    table: { functions: [], routes: [], schedules: [] },
    status: () => ({
      url: world.url,
      dataDirectory: world.directory,
      running: 0,
      waiting: 0,
      costs: world.costs(),
    }),
  })
  world = await startWorld([vault], { pages })
})
afterAll(async () => {
  await world.stop()
  model.server.close()
  vi.unstubAllEnvs()
})

/** A request as someone makes it; all of its answer is kept. */
const ask = async (method: string, where: string, body?: unknown, headers = {}) => {
  const answer = await world.request(method, where, {
    headers,
    ...(body === undefined ? {} : { body }),
  })
  told.push(answer.text, JSON.stringify([...answer.headers]))
  return answer
}

test('no secret is in any row, object, answer, log line, page or request of a model', async () => {
  const helper = await world.createAgent([])
  const agent = await world.createAgent(['vault'])
  const asking = await agentOfModel()
  const { id: me } = dataOf<{ id: Id<'user'> }>(await ask('GET', '/api/v1/principals/me'))

  // Every password of every tool, at every layer where it has a place.
  const all = await allTools(tools)
  const layers = {
    global: '/api/v1/tools',
    principal: `/api/v1/principals/${me}/tools`,
    agent: `/api/v1/agents/${agent}/tools`,
    'agent of the model': `/api/v1/agents/${asking}/tools`,
  }
  for (const [layer, base] of Object.entries(layers))
    for (const tool of all) {
      const passwords = Object.entries(tool.settings).filter(([, { type, scope = 'any' }]) =>
        layer === 'global' ? type === 'password' && scope === 'any' : type === 'password',
      )
      for (const [key, { scope }] of passwords) {
        if (layer === 'principal' && scope === 'agent') continue
        const secret = canary(`${tool.name} ${key} ${layer}`)
        const answer = await ask('PUT', `${base}/${tool.name}/settings`, { [key]: secret })
        expect(answer.status, answer.text).toBe(200)
      }
    }
  const planted = canaries.length
  expect(planted).toBeGreaterThanOrEqual(PROVIDERS.length - 1 + 9)

  const settings = `/api/v1/agents/${agent}/tools/vault/settings`
  await ask('PUT', settings, { helpers: [helper], region: 'us' })

  // Writes that are refused, each with a secret in it.
  for (const body of [
    { token: [canary('in a list')] },
    { token: { value: canary('in an object') } },
    { token: canary('that is too long').repeat(500) },
    { token: canary('beside a mistake'), region: 7, colour: 'red' },
    `{"token": ${canary('without quotes')}}`,
    `{"token": "${canary('without an end')}`,
    `{"token": "x"} ${canary('behind it')}`,
  ])
    expect((await ask('PUT', settings, body)).status).toBeGreaterThanOrEqual(400)
  await ask('PUT', settings, { token: canary('for another version') }, { 'if-match': '"999"' })

  // Calls, over HTTP and by tasks; with approval, refused, failing, and of a tool that can't run.
  const as = { 'espalier-agent': agent }
  for (const how of [...HOWS, 'no such way'])
    await ask('POST', '/api/v1/tools/vault/operations/tell', { how }, as)
  for (const by of [agent, asking]) {
    const lines = by === asking ? ['Tell it.'] : HOWS.map(how => `/vault tell {"how": "${how}"}`)
    const task = await world.createTask(by, ...lines)
    await world.untilTask(task, 'COMPLETED', 'FAILED')
    await ask('GET', `/api/v1/tasks/${task}`)
    await ask('GET', `/api/v1/tasks/${task}/history?limit=100`)
  }
  const gated = await world.createTask(agent, '/vault ask {"how": "result"}')
  const [approval] = await world.untilApproval(gated)
  await ask('GET', '/api/v1/approvals')
  await ask('POST', `/api/v1/tool-calls/${approval.id}/approve`, { digest: approval.digest })
  await world.untilTask(gated, 'COMPLETED')
  await ask('GET', `/api/v1/tool-calls/${approval.id}`)
  await ask('PUT', settings, { breaks: true })
  await ask('POST', '/api/v1/tools/vault/operations/tell', { how: 'result' }, as)
  await world.untilTask(await world.createTask(agent, '/vault tell {"how": "url"}'), 'COMPLETED')
  await ask('PUT', settings, { breaks: false })

  // What shows settings, logs and declarations.
  for (const where of [
    ...Object.values(layers).flatMap(base =>
      all.flatMap(({ name }) => [`${base}/${name}/settings`, `${base}/${name}/settings?raw=true`]),
    ),
    ...['tools', 'tools/vault', 'agents', 'media', 'llm-configurations'].map(to => `/api/v1/${to}`),
    ...['', '/export'].map(to => `/api/v1/agents/${agent}${to}`),
    ...['/api/v1/audit?limit=100', `/api/v1/audit?limit=100&principal_id=${me}`],
    ...['/api/v1/openapi.json', '/docs', '/docs/start.js'],
  ])
    await ask('GET', where)
  told.push(await (await fetch(`${world.url}/`)).text())

  // A rotation, a key that nothing opens with, and the removal of it all.
  const isPassword = (tool: string, key: string) =>
    all.find(({ name }) => name === tool)?.settings[key]?.type === 'password'
  const sources = [settingsSource(isPassword), configurationSource]
  const ring = process.env.ESPALIER_SETTINGS_KEYS ?? ''
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', `v2:${Buffer.alloc(32, 7).toString('base64')},${ring}`)
  const pages: unknown[] = []
  pages.push(await rotate(sources, { onPage: done => pages.push(done) }), await survey(sources))
  told.push(JSON.stringify(pages))
  await ask('POST', '/api/v1/tools/vault/operations/tell', { how: 'result' }, as)
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', `v3:${Buffer.alloc(32, 8).toString('base64')}`)
  const unreadable = await ask('POST', '/api/v1/tools/vault/operations/tell', { how: 'url' }, as)
  expect(unreadable.body.error?.code).toBe('DECRYPTION_FAILED')
  told.push(JSON.stringify(await survey(sources)))
  const before = await everything()
  await ask('DELETE', settings)
  const after = await everything()

  for (const [where, texts] of Object.entries({ ...before, ...after })) {
    expect(texts.length, where).toBeGreaterThan(0)
    expect(foundIn(texts), where).toEqual([])
  }
  // The tools did tell, and everyone was told; what was looked for is found where it is.
  for (const texts of [told, model.asked]) expect(texts.join()).toContain('*** | *** | ***')
  for (const form of formsOf(canaries.at(-1) ?? ''))
    expect(foundIn([`before ${form} after`])).toHaveLength(1)
}, 120_000)

/** Everything that is kept, told, logged or asked by now. */
const everything = async () => ({
  rows: Object.entries(await snapshot()).map(entry => JSON.stringify(entry)),
  files: await Promise.all(
    (await readdir(world.directory, { recursive: true, withFileTypes: true }))
      .filter(entry => entry.isFile())
      .map(entry => readFile(path.join(entry.parentPath, entry.name), 'utf8')),
  ),
  answers: told,
  'log lines': world.logs.map(entry => JSON.stringify(entry)),
  'requests of models': model.asked,
})

/** The secrets that are in any of the texts. */
const foundIn = (texts: string[]): string[] =>
  canaries.filter(secret => formsOf(secret).some(form => texts.some(text => text.includes(form))))

/** An agent whose model is a server here, with a key of its own that is a secret as well. */
const agentOfModel = async (): Promise<Id<'agent'>> => {
  const made = await ask('POST', '/api/v1/llm-configurations', {
    owner: 'global',
    name: 'A model',
    provider: 'openai-compatible',
    model: 'scripted',
    base_url: model.url,
    api_key: headerCanary('key of a configuration'),
  })
  const { id } = dataOf<{ id: string }>(made)
  const path = `/api/v1/llm-configurations/${id}`
  // It was entered for this address and no other.
  await ask('PATCH', path, { base_url: 'https://models.example/v1' }, { 'if-match': '"1"' })
  for (const to of ['', '/agents']) await ask('GET', path + to)
  expect(dataOf(await ask('POST', `${path}/test`))).toMatchObject({ ok: true })
  return world.createAgent(['vault'], { model: undefined, llm_configuration_id: id })
}

/** A model that calls the vault once, and says what it read. */
const startModel = async () => {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts).toString()
    const { authorization: _, ...headers } = request.headers
    asked.push(String(request.url), JSON.stringify(headers), body)
    const read = (JSON.parse(body) as { messages: { role: string; content: unknown }[] }).messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => String(content))
    const wire = WIRES['openai-compatible']
    const events =
      read.length > 0
        ? wire({ text: read.join(' '), end: 'done' })
        : wire({
            calls: HOWS.map((how, index) => ({
              id: `call_${index}`,
              name: 'vault',
              pieces: [JSON.stringify({ action: 'tell', how })],
            })),
            end: 'done',
          })
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { server, asked, url: `http://127.0.0.1:${port}/v1` }
}
