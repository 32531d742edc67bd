import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { routeTable } from '../../functions/routes.ts'
import { approvalExpiry } from '../../lib/call/decision.ts'
import { callKey, ToolCall } from '../../lib/call/tool-call.ts'
import { isoIn, isoNow } from '../../lib/core/clock.ts'
import type { Id } from '../../lib/core/ids.ts'
import { newNonce } from '../../lib/core/ids.ts'
import { TTL_ATTRIBUTE } from '../../lib/data/definition.ts'
import * as table from '../../lib/data/table.ts'
import { alarmsOf, LOG_LINES } from '../../lib/deploy/alarms.ts'
import { TaskStatus } from '../../lib/task/task.ts'
import { agent, useAgent, world } from '../use-world.ts'
import { readPage } from './page.ts'

const page = readPage('operating.md')
const words = page.replaceAll(/\s+/g, ' ')
const deploying = readPage('deploying.md').replaceAll(/\s+/g, ' ')

useAgent(['media', 'time'])

/** Runs the page's requests in order, one by one, and returns what each answers. */
const runRequests = async (variables: Record<string, string>) => {
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
  const script = blocks.filter(block => block.includes('$URL')).join('\n')
  const requests = script.replaceAll(/\\\n\s*/g, '').split('\n')
  const answers: { data?: unknown; error?: unknown }[] = []
  for (const request of requests.filter(line => line.startsWith('curl'))) {
    const env = { ...process.env, URL: world.url, KEY: world.adminKey, ...variables }
    const { stdout } = await promisify(execFile)('bash', ['-euc', request], { env })
    answers.push(JSON.parse(stdout))
    if (request.includes('/abort')) await world.untilTask(variables.OTHER ?? '', 'ABORTED')
  }
  return { requests, answers }
}

/** A task whose call was started by a function that died. */
const makeUnknown = async (): Promise<{ TASK: Id<'task'>; CALL: string }> => {
  const create = '/media create_media {"filename": "a.md", "content": "a"}'
  const share = '/media get_public_url {"media_id": "{{1.media_id}}"}'
  const TASK = await world.createTask(agent, create, '', share)
  const [call] = await world.untilApproval(TASK)
  const started = { status: 'STARTED', effect: 'once', claim: newNonce(), runs: 1 }
  const times = { startedAt: isoNow(), deadlineAt: isoIn(-1) }
  const key = callKey(call.id as Id<'call'>)
  await table.update(ToolCall, key, { set: { ...started, ...times } })
  // Whoever looks at it sees that its time is over.
  await world.untilCall(call.id, 'UNKNOWN')
  return { TASK, CALL: call.id }
}

describe('the page on operating', () => {
  it('has requests that do what is said beside them', async () => {
    const { TASK, CALL } = await makeUnknown()
    const waiting = '/media get_public_url {"media_id": "media_01M8QNDRYZ2Z8T0WP2HZZXYSTH"}'
    const OTHER = await world.createTask(agent, waiting)
    const WRONG = await world.createTask(agent, waiting)
    await world.untilTask(OTHER, 'PENDING_APPROVAL')
    await world.untilTask(WRONG, 'PENDING_APPROVAL')
    const { answers } = await runRequests({ TASK, CALL, OTHER, WRONG })
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([])
    expect(answers).toHaveLength(10)
    expect(await world.getCall(CALL)).toMatchObject({
      status: 'COMPLETED',
      result: { content: 'The letter was sent.' },
    })
    await world.untilTask(TASK, 'COMPLETED')
    await world.untilTask(OTHER, 'COMPLETED')
    expect((await world.getTask(WRONG)).status).toBe('CANCELLED')
  })

  it('names no route that there is not, and every state of a task that needs someone', async () => {
    const { routes } = await routeTable()
    const known = routes.map(({ method, path }) => `${method} ${path}`)
    const named = [...page.matchAll(/`(GET|POST|PATCH|DELETE) (\/[a-z-]+[^`?\s]*)/g)]
    expect(named.length).toBeGreaterThan(8)
    for (const [, method, path] of named) expect(known).toContain(`${method} /api/v1${path}`)
    const ends = ['COMPLETED', 'CANCELLED', 'ABORTED']
    for (const status of TaskStatus.options.filter(each => !ends.includes(each)))
      expect(page).toContain(`\`${status}\``)
  })

  it('has what to do for every alarm, under the heading that its e-mail names', () => {
    const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
      text
        .toLowerCase()
        .replaceAll(/[^a-z ]/g, '')
        .replaceAll(' ', '-'),
    )
    for (const { name, anchor } of alarmsOf({ quota: 1_000 })) {
      expect(headings).toContain(anchor)
      expect(page).toContain(`\`${name}\``)
    }
  })

  it('and the one on deploying have the figures of the code', () => {
    const hours = Date.parse(approvalExpiry({ now: () => new Date(0) })) / 3_600_000
    expect(words).toContain(`a decision, within ${hours} hours`)
    expect(words).toContain(`AttributeName=${TTL_ATTRIBUTE}`)
    const metrics = alarmsOf({ quota: 1_000 }).flatMap(alarm => alarm.metrics).length
    expect(deploying).toContain(`alarms are ${metrics} metrics at $0.10`)
    expect([deploying.includes('and two metrics of our own'), LOG_LINES.length]).toEqual([true, 2])
    expect(deploying).toContain(`${(30 * 24 * 60).toLocaleString('en-US')} a month`)
  })
})
