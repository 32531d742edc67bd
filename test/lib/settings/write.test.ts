import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type AuditOwner, listAudit } from '../../../lib/audit/audit.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import { setLogSink } from '../../../lib/core/log.ts'
import * as table from '../../../lib/data/table.ts'
import type { NamedAgent } from '../../../lib/settings/agent-ids.ts'
import { MAX_CHANGES, MAX_LAYER_BYTES } from '../../../lib/settings/change.ts'
import { layerKey, type Scope } from '../../../lib/settings/layer.ts'
import { clearLayer, readLayer, writeLayer } from '../../../lib/settings/write.ts'
import { defineTool, type Tool } from '../../../lib/tool/define.ts'
import { MAX_VALUE_CHARS, setting } from '../../../lib/tool/setting.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'
import { tool as mail } from './tool.ts'

useLocalTable()
setLogSink(() => {})

const clock = clockAt('2026-01-01T00:00:00.000Z')
const by = newId('user')
let scope: Required<Scope>
let agents: Map<string, NamedAgent>

beforeEach(async () => {
  process.env.ESPALIER_SETTINGS_KEYS = `v1:${randomBytes(32).toString('base64')}`
  scope = { principalId: newId('user'), agentId: newId('agent') }
  agents = new Map()
})

const readAgents = async (ids: Id<'agent'>[]) =>
  new Map(ids.flatMap(id => (agents.has(id) ? [[id, agents.get(id) as NamedAgent]] : [])))

const write = (
  changes: Record<string, unknown>,
  { tool = mail, at = scope, version }: { tool?: Tool; at?: Scope; version?: number } = {},
) => writeLayer(tool, at, changes, { by, readAgents, version, clock })

const logged = async (owner: AuditOwner = scope.principalId) => {
  const { items } = await listAudit(owner, { limit: 100 })
  return items.map(({ action, field, from, to }) => ({ action, field, from, to }))
}

describe('a change of settings', () => {
  it('is logged with it, key by key: who, when, of what, from, to', async () => {
    await write({ sender: 'a@example.com', limit: 3 })
    clock.set('2026-01-02T00:00:00.000Z')
    await write({ sender: 'b@example.com' })
    const { items } = await listAudit(scope.principalId, { limit: 10 })
    expect(items).toHaveLength(3)
    expect(items[0]).toEqual({
      id: expect.stringMatching(/^audit_/),
      at: '2026-01-02T00:00:00.000Z',
      by,
      action: 'setting-changed',
      target: scope.agentId,
      field: 'mail.sender',
      from: 'a@example.com',
      to: 'b@example.com',
    })
    expect(items.slice(1).map(({ field }) => field)).toEqual(
      expect.arrayContaining(['mail.sender', 'mail.limit']),
    )
  })

  it('of the principal or the instance is in the log of whose layer it is', async () => {
    await write({ limit: 1 }, { at: { principalId: scope.principalId } })
    const before = (await logged('instance')).length
    await write({ limit: 2 }, { at: {} })
    expect(await logged()).toHaveLength(1)
    expect(await logged('instance')).toHaveLength(before + 1)
    await write({ limit: null }, { at: {} })
  })

  it('never says in the log what a password was or is', async () => {
    await write({ token: 'first-secret' })
    await write({ token: 'second-secret' })
    await write({ token: null })
    expect(await logged()).toEqual(
      expect.arrayContaining([
        { action: 'setting-changed', field: 'mail.token', to: '***' },
        { action: 'setting-changed', field: 'mail.token', from: '***', to: '***' },
        { action: 'setting-removed', field: 'mail.token', from: '***' },
      ]),
    )
  })

  it('of nothing is no change: no entry, no version', async () => {
    await write({ token: 'first-secret' })
    const { version } = await readLayer('mail', scope)
    expect(await write({ token: '***', sender: null, limit: '' })).toBe(version)
    expect(await write({})).toBe(version)
    expect(await logged()).toHaveLength(1)
  })

  it('that is refused leaves neither values nor entries', async () => {
    await expect(write({ sender: 'fine', limit: 'none' })).rejects.toThrow('Nothing was saved.')
    expect(await readLayer('mail', scope)).toEqual({ version: 0, entries: {} })
    expect(await logged()).toEqual([])
  })
})

describe('the version of a layer', () => {
  it('rises by one with each change, and with a removal of all', async () => {
    expect(await write({ limit: 1 })).toBe(1)
    expect(await write({ limit: 2, sender: 'x' })).toBe(2)
    expect(await clearLayer(mail, scope, { by, readAgents, clock })).toBe(3)
    expect(await readLayer('mail', scope)).toEqual({ version: 3, entries: {} })
    expect((await logged()).filter(({ action }) => action === 'setting-removed')).toHaveLength(2)
  })

  it('that a change is meant for has to be the current one', async () => {
    await write({ limit: 1 }, { version: 0 })
    await write({ limit: 2 }, { version: 1 })
    for (const version of [0, 1, 3])
      await expect(write({ limit: 9 }, { version })).rejects.toMatchObject({
        code: 'VERSION_MISMATCH',
        details: { version: 2 },
      })
    expect((await readLayer('mail', scope)).entries.limit?.value).toBe(2)
  })

  it('lets one of many through that all read the same', async () => {
    await write({ limit: 0 })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, limit) => write({ limit }, { version: 1 })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('is what changes without one are tried on: all of them land, and the log has a chain', async () => {
    const numbers = Array.from({ length: 10 }, (_, index) => index + 1)
    await Promise.all([
      ...numbers.map(limit => write({ limit })),
      ...numbers.map(number => write({ sender: `sender ${number}` })),
    ])
    const { version, entries } = await readLayer('mail', scope)
    expect(version).toBe(20)
    const changes = (await logged()).filter(({ field }) => field === 'mail.limit')
    expect(changes.map(({ to }) => to).sort()).toEqual([...numbers].sort())
    // Whoever was overwritten is what someone else's change came from.
    const overwritten = changes.map(({ from }) => from)
    expect(new Set(overwritten).size).toBe(10)
    expect(
      [...overwritten, entries.limit?.value].filter(value => value !== undefined).sort(),
    ).toEqual([...numbers].sort())
  })
})

describe('a value at a layer where it has no place any more', () => {
  it('can be removed there, also where the tool no longer knows its key', async () => {
    await table.update(
      z.unknown(),
      layerKey('mail', 'global'),
      {
        set: Object.fromEntries(
          ['mailbox', 'gone'].map(key => [
            `entry_${key}`,
            { value: 'old-secret', updatedAt: '2026-01-01T00:00:00.000Z', updatedBy: 'user_1' },
          ]),
        ),
      },
      { create: true },
    )
    await write({ mailbox: null, gone: '' }, { at: {} })
    expect((await readLayer('mail', {})).entries).toEqual({})
    expect((await logged('instance')).find(({ field }) => field === 'mail.gone')).toEqual({
      action: 'setting-removed',
      field: 'mail.gone',
      from: '***',
    })
  })
})

const many = defineTool({
  name: 'many',
  description: 'Has many settings.',
  settings: Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`text_${index}`, setting.textarea({ label: 'T' })]),
  ),
  operations: {
    go: { description: 'Go.', parameters: z.object({}), describe: () => 'Go', execute: () => 1 },
  },
})
const texts = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`text_${index}`, value]))

describe('a change that is too large', () => {
  it(`names at most ${MAX_CHANGES} keys`, async () => {
    expect(await write(texts(MAX_CHANGES, 'x'), { tool: many })).toBe(1)
    expect(await logged()).toHaveLength(MAX_CHANGES)
    await expect(write(texts(MAX_CHANGES + 1, 'y'), { tool: many })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining(`at most ${MAX_CHANGES} at once`),
    })
  })

  it('is refused before the row is full, and DynamoDB takes what is let through', async () => {
    // Three bytes a character, as DynamoDB counts them.
    const value = '語'.repeat(MAX_VALUE_CHARS)
    const most = Math.floor(MAX_LAYER_BYTES / (value.length * 3 + 2 + 256))
    expect(await write(texts(most, value), { tool: many })).toBe(1)
    await expect(write({ text_99: value }, { tool: many })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringMatching(/would take \d+ bytes at this layer; at most 307200 fit/),
    })
    expect(await write(texts(most, `${value.slice(1)}a`), { tool: many })).toBe(2)
    expect((await readLayer('many', scope)).version).toBe(2)
  })
})

const boss = defineTool({
  name: 'boss',
  description: 'Knows agents and skills.',
  settings: {
    helpers: setting.multiSelect({ label: 'Helpers', resolveAs: 'agent', exposeToLlm: true }),
    deputy: setting.text({ label: 'Deputy', resolveAs: 'agent' }),
    skills: setting.multiSelect({ label: 'Skills', resolveAs: 'skill' }),
  },
  operations: {
    go: { description: 'Go.', parameters: z.object({}), describe: () => 'Go', execute: () => 1 },
  },
})

describe('a setting that names agents', () => {
  const agent = (name: string, principalId: string = scope.principalId): Id<'agent'> => {
    const id = newId('agent')
    agents.set(id, { name, principalId })
    return id
  }

  it('takes those of the same owner, and lists all others at once', async () => {
    const [own, foreign, gone] = [agent('Own'), agent('Foreign', newId('user')), newId('agent')]
    expect(await write({ helpers: [own], deputy: own }, { tool: boss })).toBe(1)
    const refused = write({ helpers: [own, foreign, gone], deputy: gone }, { tool: boss })
    await expect(refused).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [
        { field: 'helpers', message: expect.stringContaining(`${foreign}, ${gone}`) },
        { field: 'deputy', message: expect.stringContaining(gone) },
      ],
    })
    expect((await readLayer('boss', scope)).version).toBe(1)
  })

  it('takes any agent there is for the instance, which owns none', async () => {
    expect(await write({ deputy: agent('Any', newId('user')) }, { tool: boss, at: {} })).toBe(1)
    await expect(write({ deputy: newId('agent') }, { tool: boss, at: {} })).rejects.toThrow(
      'not there',
    )
  })

  it('takes ids and no names; one that names skills, names and nothing else', async () => {
    await expect(
      write({ helpers: ['Ada'], deputy: '7', skills: ['Not A Skill'] }, { tool: boss }),
    ).rejects.toMatchObject({
      details: [
        { field: 'helpers', message: expect.stringContaining('by their ids') },
        { field: 'deputy', message: expect.stringContaining('by their ids') },
        { field: 'skills', message: expect.stringContaining('must name skills') },
      ],
    })
    expect(await write({ skills: ['agent-creation'] }, { tool: boss })).toBe(1)
  })
})
