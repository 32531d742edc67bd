import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import {
  HEARTBEAT_MS,
  SLOWEST_RUNNING_MS,
  SLOWEST_WAITING_MS,
  STREAM_MS,
} from '../../lib/http/follow-task.ts'
import { MAX_WATCHERS } from '../../lib/task/watcher.ts'
import { createReader } from '../event-source.ts'
import { makeSession } from '../session.ts'
import { agent, useAgent, world } from '../use-world.ts'
import { dataOf } from '../world.ts'

const page = readFileSync(path.join(import.meta.dirname, '../../docs/live-updates.md'), 'utf8')
const block = (language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(page)?.[1] ?? ''
const run = promisify(execFile)
const PROMPT = '/calculator calculate {"expression": "6 * 7"}'

useAgent(['calculator'])

it('shows a command that follows a task to its end', async () => {
  const TASK = await world.createTask(agent, PROMPT)
  const env = { ...process.env, URL: world.url, KEY: world.adminKey, TASK }
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', block('sh')], { env })
  const reader = createReader()
  reader.feed(stdout)
  expect(reader.problems).toEqual([])
  expect(reader.messages.at(-1)).toMatchObject({ event: 'end', data: { status: 'COMPLETED' } })
})

/** What a browser does that has signed in: it sends its cookie along by itself. */
const startBrowserHost = async (cookie: string) => {
  const server = createServer(({ url, headers }, response) => {
    const { host: _, ...rest } = headers
    request(`${world.url}${url}`, { headers: { ...rest, cookie } }, answer => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    }).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

it('shows a page’s lines that an EventSource runs', async () => {
  const id = await world.createTask(agent, PROMPT)
  const me = dataOf<{ id: never }>(await world.request('GET', '/api/v1/principals/me'))
  const host = await startBrowserHost((await makeSession(me.id)).cookie)
  const script = `
    const id = '${id}'
    class EventSource extends globalThis.EventSource {
      constructor(path) { super('${host.url}' + path) }
    }
    const seen = []
    const showTask = ({ status }) => seen.push(status)
    const showRow = ({ role }) => seen.push(role)
    const showCall = ({ status }) => seen.push(status)
    ${block('js')}
    source.addEventListener('end', () => console.log(JSON.stringify(seen)))`
  const { stdout } = await run(process.execPath, [
    '--experimental-eventsource',
    '--no-warnings',
    '--eval',
    script,
  ])
  host.server.closeAllConnections()
  host.server.close()
  const seen: string[] = JSON.parse(stdout)
  expect(seen).toEqual(expect.arrayContaining(['user', 'assistant', 'tool', 'COMPLETED']))
})

it('names the limits that there are', () => {
  const text = page.replaceAll(/\s+/g, ' ')
  expect(text).toContain(`a task has ${MAX_WATCHERS.task} watchers`)
  expect(text).toContain(`a principal ${MAX_WATCHERS.principal} `)
  expect(text).toContain(`an installation ${MAX_WATCHERS.all}.`)
  expect(text).toContain(`A comment every ${HEARTBEAT_MS / 1_000} seconds`)
  expect(text).toContain(`every ${SLOWEST_RUNNING_MS / 1_000} seconds while the task runs`)
  expect(text).toContain(`every ${SLOWEST_WAITING_MS / 1_000} while it waits`)
  expect(STREAM_MS).toBe(60_000)
})
