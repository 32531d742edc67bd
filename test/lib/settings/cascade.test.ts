import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { newId } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { namesIn } from '../../../lib/settings/agent-ids.ts'
import {
  cascade,
  cascadeKeys,
  configurationLines,
  maskedValue,
  missingSettings,
  openSettings,
  type Scope,
} from '../../../lib/settings/cascade.ts'
import { type LayerOwner, layerKey } from '../../../lib/settings/layer.ts'
import { writeLayer } from '../../../lib/settings/write.ts'
import type { Tool } from '../../../lib/tool/define.ts'
import { MAX_VALUE_CHARS, MIN_SECRET_CHARS } from '../../../lib/tool/setting.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'
import { tool } from './tool.ts'

useLocalTable()

const MASTER_KEY = `v1:${randomBytes(32).toString('base64')}`
const clock = clockAt('2026-01-01T00:00:00.000Z')
let scope: Required<Scope>

beforeEach(async () => {
  process.env.ESPALIER_SETTINGS_KEYS = MASTER_KEY
  scope = { principalId: newId('user'), agentId: newId('agent') }
  await table.remove(layerKey(tool.name, 'global'))
})

const noAgents = async () => new Map()
const write = (owner: LayerOwner, changes: Record<string, unknown>) =>
  writeLayer(tool, scopeAt(owner), changes, { by: 'user_1', readAgents: noAgents, clock })

/** The scope whose own layer is this owner's. */
const scopeAt = (owner: LayerOwner): Scope => {
  if (owner === 'global') return {}
  return owner === scope.agentId ? scope : { principalId: scope.principalId }
}

const effective = async (of: Scope = scope) =>
  cascade(tool, await table.batchGet(cascadeKeys(tool.name, of)), of)

const read = async (key: string, of: Scope = scope) => {
  const { value, source } = (await effective(of))[key] ?? {}
  return { value, source }
}

test('a later layer wins, and every value knows where it comes from', async () => {
  expect(await read('sender')).toEqual({ value: 'nobody@example.com', source: 'default' })
  await write('global', { sender: 'global' })
  expect(await read('sender')).toEqual({ value: 'global', source: 'global' })
  await write(scope.principalId, { sender: 'principal' })
  expect(await read('sender')).toEqual({ value: 'principal', source: 'principal' })
  await write(scope.agentId, { sender: 'agent' })
  expect(await read('sender')).toEqual({ value: 'agent', source: 'agent' })
  expect((await effective()).sender).toMatchObject({
    owner: scope.agentId,
    updatedBy: 'user_1',
    updatedAt: '2026-01-01T00:00:00.000Z',
  })
})

test('layers are replaced key by key, not as a whole', async () => {
  await write('global', { sender: 'global', limit: 1 })
  await write(scope.agentId, { limit: 2 })
  expect(await read('sender')).toEqual({ value: 'global', source: 'global' })
  expect(await read('limit')).toEqual({ value: 2, source: 'agent' })
})

test.each([null, ''])('%j removes a value, and the cascade resumes below', async removal => {
  await write('global', { sender: 'global' })
  await write(scope.agentId, { sender: 'agent' })
  await write(scope.agentId, { sender: removal })
  expect(await read('sender')).toEqual({ value: 'global', source: 'global' })
  await write('global', { sender: removal })
  expect(await read('sender')).toEqual({ value: 'nobody@example.com', source: 'default' })
})

test('false and 0 are values, and an unset setting has neither value nor source', async () => {
  await write('global', { urgent: true, limit: 5 })
  await write(scope.agentId, { urgent: false, limit: 0 })
  expect(await read('urgent')).toEqual({ value: false, source: 'agent' })
  expect(await read('limit')).toEqual({ value: 0, source: 'agent' })
  expect(await read('signature')).toEqual({ value: undefined, source: undefined })
})

test('another agent and another principal see nothing of it', async () => {
  await write(scope.agentId, { sender: 'agent' })
  await write(scope.principalId, { limit: 3 })
  const other = { principalId: newId('group'), agentId: newId('agent') }
  expect(await read('sender', other)).toMatchObject({ source: 'default' })
  expect(await read('limit', other)).toMatchObject({ value: undefined })
})

test('a password is sealed at rest, masked in answers and open to the tool alone', async () => {
  await write(scope.principalId, { token: 'hunter2' })
  const stored = await table.get(
    z.record(z.string(), z.unknown()),
    layerKey(tool.name, scope.principalId),
  )
  expect(JSON.stringify(stored)).not.toContain('hunter2')
  const settings = await effective()
  expect(settings.token && maskedValue(settings.token)).toBe('***')
  const opened = openSettings(tool, settings)
  expect(opened.values.token).toBe('hunter2')
  expect(opened.secrets).toEqual(['hunter2'])
})

test('*** keeps a password, and makes none where there is none', async () => {
  await write(scope.agentId, { token: '***' })
  expect(await read('token')).toEqual({ value: undefined, source: undefined })
  await write(scope.agentId, { token: 'hunter2' })
  await write(scope.agentId, { token: '***', limit: 4 })
  expect(openSettings(tool, await effective()).values).toMatchObject({ token: 'hunter2', limit: 4 })
})

test('the fingerprint follows the values, not the layers that they come from', async () => {
  await write('global', { token: 'first' })
  const before = openSettings(tool, await effective()).fingerprint
  await write(scope.agentId, { token: 'first' })
  expect(openSettings(tool, await effective()).fingerprint).toBe(before)
  await write(scope.agentId, { token: 'second' })
  expect(openSettings(tool, await effective()).fingerprint).not.toBe(before)
})

test('a required setting without a value is missing', async () => {
  expect(missingSettings(await effective())).toEqual(['token'])
  await write('global', { token: 'hunter2' })
  expect(missingSettings(await effective())).toEqual([])
})

test.each<[string, 'global' | 'principalId']>([
  ['quota', 'global'],
  ['mailbox', 'global'],
  ['mailbox', 'principalId'],
])('the setting %s has no place at the layer %s', async (key, layer) => {
  const owner = layer === 'global' ? layer : scope[layer]
  await expect(write(owner, { [key]: 1 })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ field: key, message: expect.stringContaining('has no place at the') }],
  })
})

test('a scoped setting can be written where it has its place', async () => {
  await write(scope.principalId, { quota: 1 })
  await write(scope.agentId, { mailbox: 'x', quota: 2 })
  expect(await read('quota')).toEqual({ value: 2, source: 'agent' })
})

test('all problems are listed at once, and nothing is saved', async () => {
  const changes = {
    sender: 'fine',
    limit: '5',
    urgent: 'yes',
    format: 'pdf',
    folders: ['in', 'trash'],
    signature: 'x'.repeat(MAX_VALUE_CHARS + 1),
    quota: Number.NaN,
    colour: 'red',
    constructor: 'x',
  }
  const failure = await write(scope.agentId, changes).catch((error: unknown) => error)
  const { sender: _, ...wrong } = changes
  expect(failure).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: Object.keys(wrong).map(field => ({ field, message: expect.any(String) })),
  })
  for (const key of Object.keys(wrong)) expect(String(failure)).toContain(`"${key}"`)
  expect(await read('sender')).toMatchObject({ source: 'default' })
})

test('a value of exactly the most characters is saved', async () => {
  await write(scope.agentId, { signature: 'x'.repeat(MAX_VALUE_CHARS) })
  expect((await read('signature')).value).toHaveLength(MAX_VALUE_CHARS)
})

test(`a password has ${MIN_SECRET_CHARS} characters, without the space around it`, async () => {
  await write(scope.agentId, { token: 'x'.repeat(MIN_SECRET_CHARS) })
  for (const token of ['x'.repeat(MIN_SECRET_CHARS - 1), `  xx\n`])
    await expect(write(scope.agentId, { token })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringMatching(
        /"token": must be at least 4 characters long, or it could not/,
      ),
    })
})

test('a refused password is in no message', async () => {
  const token = 's3cret'.repeat(2_000)
  const failure = await write(scope.agentId, { token }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'VALIDATION_ERROR' })
  expect(JSON.stringify([failure, String(failure)])).not.toContain('s3cret')
})

test('a password that does not open names its key and layer, and no lower layer steps in', async () => {
  await write('global', { token: 'global' })
  await write(scope.principalId, { token: 'principal' })
  process.env.ESPALIER_SETTINGS_KEYS = `v1:${randomBytes(32).toString('base64')}`
  await write('global', { token: 'global, sealed with the new key' })
  const settings = await effective()
  expect(() => openSettings(tool, settings)).toThrow(
    expect.objectContaining({
      code: 'DECRYPTION_FAILED',
      message: expect.stringMatching(/"token".*principal layer/),
    }),
  )
})

test('a stored value that is no longer valid names its key and layer', async () => {
  await write('global', { format: 'html' })
  await write(scope.agentId, { format: 'text' })
  const format = { ...tool.settings.format, options: ['html'] }
  const changed: Tool = { ...tool, settings: { ...tool.settings, format } }
  const found = await table.batchGet(cascadeKeys(tool.name, scope))
  expect(() => openSettings(changed, cascade(changed, found, scope))).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      message: expect.stringMatching(/"format".*agent layer/),
    }),
  )
})

test('the model reads what is exposed to it, and nothing else', async () => {
  await write(scope.agentId, { folders: ['in', 'out'], token: 'hunter2', limit: 7 })
  expect(configurationLines(await effective(), namesIn(scope, new Map()))).toBe(
    [
      '[Effective Configuration]',
      '- Sender: nobody@example.com',
      '- Signature: (not configured)',
      '- Folders: in, out',
    ].join('\n'),
  )
})

test('two writers of different keys do not undo each other', async () => {
  const writes = Array.from({ length: 5 }, (_, limit) => [
    write(scope.agentId, { limit }),
    write(scope.agentId, { sender: `sender ${limit}` }),
  ])
  await Promise.all(writes.flat())
  expect(await read('limit')).toMatchObject({ source: 'agent' })
  expect(await read('sender')).toMatchObject({ source: 'agent' })
})
