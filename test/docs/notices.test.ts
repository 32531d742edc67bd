import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { newId } from '../../lib/core/ids.ts'
import { EVENTS } from '../../lib/notification/event.ts'
import {
  ATTEMPT_TIMEOUT_MS,
  EXPIRING_FRACTION,
  KEPT_DAYS,
  MAX_ATTEMPTS,
  MAX_EMAILS,
  MAX_FAILURES,
  MAX_PAUSE_MS,
  MAX_SUBSCRIPTIONS,
  MIN_EXPIRING_MS,
  PAUSES_MS,
  ROTATION_HOURS,
} from '../../lib/notification/limits.ts'
import { bodyOf } from '../../lib/notification/notice.ts'
import { signaturesOf } from '../../lib/notification/sign.ts'
import { callOf, startReceiver, taskOf } from '../lib/notification/subscribed.ts'
import { startTestStack } from '../stack.ts'
import { isNotice } from './notice.ts'

const page = readFileSync(path.join(import.meta.dirname, '../../docs/notices.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    match => match[1] ?? '',
  )
const SHELL_TIMEOUT_MS = 20_000

let stack: Awaited<ReturnType<typeof startTestStack>>
let receiver: Awaited<ReturnType<typeof startReceiver>>
beforeAll(async () => {
  receiver = await startReceiver()
  vi.stubEnv('ESPALIER_FETCH_ALLOW', receiver.host)
  stack = await startTestStack()
})
afterAll(async () => {
  await stack.stop()
  await receiver.close()
})

it('has commands that do what it says, and a check that takes what they have sent', async () => {
  const script = blocks('sh')
    .join('echo ---\n')
    .replace(/^export URL=.*$/m, `export URL=${stack.url}/api/v1 KEY=${stack.adminKey}`)
    .replace('https://example.com/hook', receiver.url)
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    timeout: SHELL_TIMEOUT_MS,
  })
  const [made = '', used = ''] = stdout.split('---\n')
  const [id, secret = ''] = made.trim().split('\n')
  const answers = used
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line))
  expect(answers).toMatchObject([
    { data: { delivery_id: expect.any(String) } },
    {
      data: [{ event: 'subscription.test', status: 'DELIVERED', attempts: [{ http_status: 204 }] }],
    },
    { data: { id, secret: expect.stringMatching(/^whsec_/) } },
    { data: { id, enabled: false } },
    { data: { id, deleted: true } },
  ])
  const [{ body, headers } = { body: '', headers: {} }] = receiver.received
  expect(isNotice(body, headers, secret)).toBe(true)
  expect(isNotice(`${body} `, headers, secret)).toBe(false)
  expect(isNotice(body, headers, answers[2].data.secret)).toBe(false)
})

it('shows the check that was just run, which takes nothing old and either secret of a rotation', () => {
  expect(blocks('ts')).toEqual([readFileSync(path.join(import.meta.dirname, 'notice.ts'), 'utf8')])
  const [old, secret] = ['whsec_b2xk', 'whsec_bmV3']
  const now = Math.floor(Date.now() / 1_000)
  const signed = (timestampSeconds: number) => ({
    'webhook-id': 'delivery_1',
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signaturesOf({ id: 'delivery_1', timestampSeconds, body: '{}' }, [
      secret,
      old,
    ]),
  })
  for (const each of [old, secret]) expect(isNotice('{}', signed(now), each)).toBe(true)
  expect(isNotice('{}', signed(now - 301), secret)).toBe(false)
  expect(isNotice('{}', {}, secret)).toBe(false)
})

it('lists every event, and the fields of each as they are', () => {
  const rows = [...page.matchAll(/^\| `([a-z.]+)` +\|/gm)].map(([, event]) => event)
  expect(rows).toEqual([...EVENTS])
  const user = newId('user')
  const fieldsOf = (body: string) => Object.keys(JSON.parse(body).data)
  const call = bodyOf({ type: 'call.waiting', call: callOf(user) }, 'call.waiting', '')
  expect(Object.keys(JSON.parse(blocks('json')[0] ?? '').data)).toEqual(fieldsOf(call))
  const task = taskOf(user)
  for (const field of fieldsOf(bodyOf({ type: 'task.ended', task }, 'task.ended', '')))
    expect(page).toContain(`\`${field}\``)
})

it('says every number as it is', () => {
  expect(EXPIRING_FRACTION).toBe(1 / 4)
  expect(MIN_EXPIRING_MS).toBe(10 * 60_000)
  expect(PAUSES_MS.map(pause => pause / 60_000)).toEqual([1, 5, 30, 120, 300, 480, 480])
  for (const words of [
    `at most ${MAX_SUBSCRIPTIONS} subscriptions`,
    `within ${ATTEMPT_TIMEOUT_MS / 1_000} seconds`,
    `${MAX_ATTEMPTS} attempts in about a day`,
    `up to ${MAX_PAUSE_MS / 3_600_000} hours`,
    `${MAX_FAILURES} notices in a row`,
    `for ${KEPT_DAYS} days`,
    `up to ${MAX_EMAILS} addresses`,
    `For ${ROTATION_HOURS} hours`,
  ])
    expect(page).toContain(words)
})
