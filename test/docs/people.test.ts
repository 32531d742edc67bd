import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { KEY_USE_MINUTES } from '../../lib/principal/key-use.ts'
import { PERMISSIONS, type Permission, type Relation } from '../../lib/principal/permission.ts'
import { startTestStack } from '../stack.ts'

const page = readFileSync(path.join(import.meta.dirname, '../../docs/people.md'), 'utf8')
const SHELL_TIMEOUT_MS = 20_000

let stack: Awaited<ReturnType<typeof startTestStack>>
beforeAll(async () => {
  stack = await startTestStack()
})
afterAll(() => stack.stop())

it('shows the table of permissions as it is', () => {
  const columns: Relation[] = [
    'self',
    'group-owner',
    'group-admin',
    'group-member',
    'instance-admin',
  ]
  const rows = [...page.matchAll(/^\| `([a-z-]+)` +\|[^|]+\|(.+)\|$/gm)]
  const shown = rows.map(([, permission, cells = '']) => [
    permission,
    columns.filter((_, index) => cells.split('|')[index]?.trim() === 'yes').toSorted(),
  ])
  const there = (Object.keys(PERMISSIONS) as Permission[]).map(permission => [
    permission,
    [...PERMISSIONS[permission]].toSorted(),
  ])
  expect(shown).toEqual(there)
})

it('has commands that do what it says', async () => {
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(match => match[1] ?? '')
  const script = blocks
    .join('echo ---\n')
    .replace(/^export URL=.*$/m, `export URL=${stack.url}/api/v1 KEY=${stack.adminKey}`)
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    timeout: SHELL_TIMEOUT_MS,
  })
  const [, users = '', groups = '', agents = '', keys = '', disabled = ''] = stdout.split('---\n')
  expect(answersIn(users)).toMatchObject([
    { data: { name: 'Ada L.', role: 'admin' } },
    { data: { name: 'Ada L.', role: 'member' } },
  ])
  expect(answersIn(groups)).toMatchObject([
    { data: { name: 'Ada L.', role: 'member' } },
    { data: { role: 'admin' } },
    { data: expect.arrayContaining([expect.objectContaining({ role: 'owner' })]) },
  ])
  expect(answersIn(agents)).toEqual([
    { data: [{ id: expect.stringMatching(/^agent_/), name: 'Hoe' }], next_cursor: null },
  ])
  expect(answersIn(keys)).toMatchObject([
    { data: { name: 'Laptop', expires_at: '2099-01-01T00:00:00.000Z' } },
    { data: { name: 'Of the nightly job', expires_at: null } },
    { data: [{ name: 'Laptop' }, { name: 'First', last_used_at: expect.any(String) }] },
    { data: [{ name: 'Of the nightly job', last_used_at: null }] },
  ])
  expect(answersIn(disabled)).toMatchObject([
    { data: { disabled: true } },
    { error: { code: 'UNAUTHENTICATED' } },
  ])
})

it('says how exactly the last use of a key is kept', () => {
  expect(KEY_USE_MINUTES).toBe(5)
  expect(page).toContain('kept to five minutes')
})

/** The answers among what was printed; ids are printed, too. */
const answersIn = (text: string): unknown[] =>
  text
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line))
