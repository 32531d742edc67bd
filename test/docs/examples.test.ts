import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { routeTable } from '../../functions/routes.ts'
import { CallStatus } from '../../lib/call/tool-call.ts'
import { ERROR_STATUS } from '../../lib/core/errors.ts'
import { commands } from '../../lib/local/start-page.ts'
import { TaskStatus } from '../../lib/task/task.ts'
import { loadFunction } from '../../scripts/load-function.ts'
import { startTestStack, type TestStack } from '../stack.ts'

// The README's first tool, in the list of tools as the README says.
vi.mock('../../functions/tools/index.ts', async importOriginal => {
  const original = await importOriginal<typeof import('../../functions/tools/index.ts')>()
  return { tools: { ...original.tools, dice: () => import('./dice.ts') } }
})

const ROOT = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8')

/** The code blocks of a page in one language. */
const blocks = (page: string, language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    match => match[1] ?? '',
  )

const README_URL = 'http://127.0.0.1:8787'
/** Long enough for the README's `sleep 1` on a busy machine. */
const SHELL_TIMEOUT_MS = 20_000

let stack: TestStack & { stop: () => Promise<void> }
beforeAll(async () => {
  const table = await routeTable()
  stack = await startTestStack({
    table,
    load: module => (module === 'tools/dice' ? import('./dice.ts') : loadFunction(module)),
  })
})
afterAll(() => stack.stop())

describe('the README', () => {
  it('shows the first tool as it is compiled and tested here', () => {
    expect(blocks(read('README.md'), 'ts')).toEqual([read('test/docs/dice.ts')])
  })

  it('has a first tool that an agent can use', async () => {
    const { body } = await stack.request('POST', '/api/v1/agents', {
      body: { name: 'Gambler', model: { provider: 'rehearsal', name: 'script' } },
    })
    const { id } = body.data as { id: string }
    await stack.request('POST', `/api/v1/agents/${id}/tools/dice/enable`)
    const answer = await stack.request('POST', '/api/v1/tools/dice/operations/roll', {
      body: { count: 5 },
      headers: { 'espalier-agent': id },
    })
    const { content } = answer.body.data as { content: string }
    const rolled = JSON.parse(content) as number[]
    expect(rolled).toHaveLength(5)
    expect(rolled.every(side => side >= 1 && side <= 6)).toBe(true)
  })

  it('and the start page give the same first commands', () => {
    const shell = blocks(read('README.md'), 'sh').slice(1)
    expect(shell.map(block => block.trim())).toEqual(
      commands(README_URL).map(({ command }) => command),
    )
  })

  it('has first commands that lead to a completed task', async () => {
    const script = commands(stack.url)
      .map(({ command }) => command)
      .join('\n')
      .replace(/^export KEY=.*$/m, `export KEY=${stack.adminKey}`)
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
      timeout: SHELL_TIMEOUT_MS,
    })
    expect(stdout).toContain('"status":"COMPLETED"')
    expect(stdout).toContain('time now')
  })
})

describe('the page on running locally', () => {
  it('shows a rehearsal that does what it says', async () => {
    const [script = ''] = blocks(read('docs/running-locally.md'), '')
    const { body } = await stack.request('POST', '/api/v1/agents', {
      body: { name: 'Reader', model: { provider: 'rehearsal', name: 'script' } },
    })
    const { id } = body.data as { id: string }
    for (const tool of ['time', 'calculator'])
      await stack.request('POST', `/api/v1/agents/${id}/tools/${tool}/enable`)
    const made = await stack.request('POST', '/api/v1/tasks', {
      body: { agent_id: id, prompt: script },
    })
    const task = made.body.data as { id: string }
    await vi.waitFor(
      async () => {
        const answer = await stack.request('GET', `/api/v1/tasks/${task.id}`)
        expect(answer.body.data).toMatchObject({
          status: 'COMPLETED',
          final_response: expect.stringContaining('409'),
        })
      },
      { timeout: SHELL_TIMEOUT_MS, interval: 100 },
    )
  })
})

describe('the page on the HTTP API', () => {
  it('lists every route there is, and no other', async () => {
    const rows = read('docs/http-api.md').matchAll(/^\| (`(?:GET|POST|PUT|PATCH|DELETE).*?`) +\|/gm)
    const documented = [...rows].flatMap(match => routesOf(match[1] ?? ''))
    const { routes } = await routeTable()
    const there = routes
      .filter(({ path }) => !path.startsWith('/api/v1/tools/') || path.includes('{'))
      .map(({ method, path }) => `${method} ${path.replace('/api/v1', '')}`)
    expect(documented.toSorted()).toEqual(
      [...there, 'POST /tools/{tool}/operations/{operation}'].toSorted(),
    )
  })
})

describe('what the HTTP API’s page says of errors and states', () => {
  it('lists every error code with its status', () => {
    const rows = read('docs/http-api.md').matchAll(/^\| (\d{3}) +\| (.*?) +\|$/gm)
    const documented = [...rows].flatMap(([, status, codes = '']) =>
      [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => [code, Number(status)]),
    )
    expect(Object.fromEntries(documented)).toEqual(ERROR_STATUS)
  })

  it('names every state of a task and of a call', () => {
    const page = read('docs/http-api.md')
    for (const state of [...TaskStatus.options, ...CallStatus.options])
      expect(page).toContain(`\`${state}\``)
  })
})

/** "`GET`, `POST /tasks`" is two routes; "`GET /media`, `GET /media/{id}`" are two as well. */
const routesOf = (cell: string): string[] => {
  const parts = [...cell.matchAll(/`([A-Z]+)(?: (\S+?))?(?:\?\S*)?`/g)]
  return parts.map(([, method, path], index) => {
    const named = path ?? parts.slice(index).find(part => part[2])?.[2]
    return `${method} ${named}`
  })
}
