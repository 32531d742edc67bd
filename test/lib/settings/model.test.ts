import { randomBytes } from 'node:crypto'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { newId } from '../../../lib/core/ids.ts'
import type { Found } from '../../../lib/data/table.ts'
import { demand } from '../../../lib/http/access.ts'
import type { Caller } from '../../../lib/principal/caller.ts'
import { memberKey } from '../../../lib/principal/group.ts'
import type { Permission } from '../../../lib/principal/permission.ts'
import { type PrincipalId, principalKey } from '../../../lib/principal/principal.ts'
import { namesIn } from '../../../lib/settings/agent-ids.ts'
import {
  cascade,
  configurationLines,
  maskedValue,
  missingSettings,
  openSettings,
  type Scope,
} from '../../../lib/settings/cascade.ts'
import { attributesOf, planChange } from '../../../lib/settings/change.ts'
import { Layer, layerKey, ownerOf } from '../../../lib/settings/layer.ts'
import { defineTool, type Tool } from '../../../lib/tool/define.ts'
import type { SettingDefinition } from '../../../lib/tool/setting.ts'
import * as model from './model.ts'
import { generator, type Random } from './random.ts'

const CASES = 100_000
const TIME_LIMIT_MS = 60_000
/** Another one finds other cases; this one finds the same again. */
const SEED = Number(process.env.SEED ?? 20260101)

beforeAll(() => {
  vi.stubEnv('ESPALIER_SETTINGS_KEYS', `v1:${randomBytes(32).toString('base64')}`)
})
afterAll(() => vi.unstubAllEnvs())

const TYPES = ['text', 'textarea', 'number', 'password', 'select', 'multi-select', 'toggle']
const DEFAULTS: Record<string, unknown> = {
  text: 'by default',
  textarea: 'by default',
  number: 0,
  password: 'default-secret',
  select: 'a',
  'multi-select': ['a', 'b'],
  toggle: false,
}

const randomTool = ({ pick, chance, below }: Random, index: number): Tool => {
  const settings = Object.fromEntries(
    Array.from({ length: 1 + below(6) }, (_, at): [string, SettingDefinition] => {
      const type = pick(TYPES)
      const definition = {
        type,
        label: `Label ${at}`,
        ...(chance(0.4) ? { default: DEFAULTS[type] } : {}),
        ...(chance(0.3) ? { required: true } : {}),
        ...(chance(0.5) ? { scope: pick(['any', 'principal', 'agent']) } : {}),
        ...(type !== 'password' && chance(0.5) ? { exposeToLlm: true } : {}),
        ...(type.endsWith('select') && chance(0.7) ? { options: ['a', 'b', 'c'] } : {}),
      }
      return [`key_${at}`, definition as SettingDefinition]
    }),
  )
  return defineTool({
    name: `tool_${index}`,
    description: 'One of many.',
    settings,
    operations: {
      go: { description: 'Go.', parameters: z.object({}), describe: () => 'Go', execute: () => 1 },
    },
  })
}

const VALUES: unknown[] = [
  ...[null, '', '***', 'a', 'b', 'z', 'abc', ' abc ', 'abcd', 'a longer text', '0', 'true'],
  ...[0, 1, -2.5, Number.NaN, Number.POSITIVE_INFINITY, true, false],
  ...[[], ['a'], ['a', 'b'], ['z'], [1], [['a']], {}, { a: 'a' }, undefined],
]

const scope: Required<Scope> = { principalId: newId('group'), agentId: newId('agent') }
const SCOPES: Record<string, Scope> = {
  global: {},
  principal: { principalId: scope.principalId },
  agent: scope,
}

/** Rows as the table would have them, without the table. */
const createRows = () => {
  const rows = new Map<string, Record<string, unknown>>()
  const nameOf = ({ pk, sk }: { pk: string; sk: string }) => `${pk} ${sk}`
  const found: Found = {
    get: (schema, key) => {
      const row = rows.get(nameOf(key))
      return row && schema.parse(row)
    },
  }
  return { rows, nameOf, found }
}

test(
  `cascade, writes and their refusals are those of the model in ${CASES} cases`,
  async () => {
    const random = generator(SEED)
    const tools = Array.from({ length: 60 }, (_, index) => randomTool(random, index))
    const author = { by: 'user_1', at: '2026-01-01T00:00:00.000Z' }
    let refused = 0
    for (let number = 0; number < CASES; number++) {
      const tool = random.pick(tools)
      const { rows, nameOf, found } = createRows()
      const state: model.ModelState = { global: {}, principal: {}, agent: {} }
      const writes = 1 + random.below(4)
      for (let count = 0; count < writes; count++) {
        const kind = random.pick(model.LAYERS)
        const at = SCOPES[kind] ?? {}
        const write = randomWrite(random, tool)
        const key = layerKey(tool.name, ownerOf(at))
        const row = rows.get(nameOf(key)) ?? {}
        const planned = await planChange(
          tool,
          { scope: at, layer: Layer.parse(row), readAgents: async () => new Map() },
          write,
          author,
        ).catch((error: unknown) => fieldsOf(error))
        const wrong = model.wrongKeys(tool.settings, kind, write)
        if (Array.isArray(planned)) {
          refused += 1
          if (planned.join() !== wrong.join()) throw differs(number, { write, planned, wrong })
          continue
        }
        if (wrong.length > 0) throw differs(number, { write, wrong })
        state[kind] = model.afterWrite(tool.settings, state[kind] ?? {}, write)
        const { set, remove } = attributesOf(planned)
        const kept = Object.entries({ ...row, ...set }).filter(([name]) => !remove.includes(name))
        rows.set(nameOf(key), Object.fromEntries(kept))
      }
      const kind = random.pick(model.LAYERS)
      const seen = SCOPES[kind] ?? {}
      compare(number, { tool, found, seen, state, kind })
    }
    // Both ways are taken often, or the comparison would say little.
    expect(refused).toBeGreaterThan(CASES / 10)
  },
  TIME_LIMIT_MS,
)

const randomWrite = ({ pick, chance }: Random, tool: Tool): Record<string, unknown> =>
  Object.fromEntries(
    [...Object.keys(tool.settings), ...(chance(0.05) ? ['unknown'] : [])]
      .filter(() => chance(0.4))
      .map(key => [key, chance(0.6) ? likely(tool.settings[key]?.type, pick) : pick(VALUES)]),
  )

/** A value that most often fits. */
const likely = (type: string | undefined, pick: Random['pick']): unknown => {
  if (type === 'number') return pick([0, 1, 2])
  if (type === 'toggle') return pick([true, false])
  if (type === 'multi-select') return pick([[], ['a'], ['c', 'b']])
  if (type === 'select') return pick(['a', 'b', 'c'])
  return pick(['first text', 'second text', null])
}

const compare = (
  number: number,
  {
    tool,
    found,
    seen,
    state,
    kind,
  }: { tool: Tool; found: Found; seen: Scope; state: model.ModelState; kind: string },
) => {
  const layers = model.LAYERS.slice(0, model.LAYERS.indexOf(kind) + 1)
  const wanted = model.effective(tool.settings, state, layers)
  const real = cascade(tool, found, seen)
  const opened = openSettings(tool, real).values
  for (const [key, { value, source }] of Object.entries(wanted)) {
    const setting = real[key]
    const isPassword = tool.settings[key]?.type === 'password'
    const masked = value === undefined ? null : isPassword ? '***' : value
    if (
      setting?.source !== source ||
      JSON.stringify(opened[key]) !== JSON.stringify(value) ||
      JSON.stringify(setting && maskedValue(setting)) !== JSON.stringify(masked)
    )
      throw differs(number, { tool: tool.settings, key, wanted: wanted[key], real: setting })
  }
  const missing = Object.keys(wanted).filter(
    key => tool.settings[key]?.required && wanted[key]?.value === undefined,
  )
  if (missingSettings(real).join() !== missing.join()) throw differs(number, { missing })
  const text = configurationLines(real, namesIn(seen, new Map()))
  if (text !== model.lines(tool.settings, wanted)) throw differs(number, { text })
}

const ACTIONS = [
  ...['read', 'run', 'decide', 'manage-agents', 'manage-settings', 'audit', 'transfer'],
  'manage-instance',
] as Permission[]

test(
  `who may do what is what the model says in ${CASES} cases`,
  async () => {
    const random = generator(SEED)
    const people = Array.from({ length: 6 }, () => newId('user'))
    const groups = Array.from({ length: 8 }, () => ({
      id: newId('group'),
      exists: random.chance(0.8),
      members: Object.fromEntries(
        people.flatMap(id =>
          random.chance(0.5) ? [[id, random.pick(['owner', 'admin', 'member'])]] : [],
        ),
      ),
    }))
    const rows = new Map<string, object>()
    for (const { id, exists, members } of groups) {
      const createdAt = '2026-01-01T00:00:00.000Z'
      if (exists) put(rows, principalKey(id), { id, name: 'G', owners: 1, agents: 0, createdAt })
      for (const [userId, role] of Object.entries(members)) {
        const key = memberKey(id, userId as (typeof people)[number])
        put(rows, key, { groupId: id, userId, role, addedAt: createdAt, addedBy: 'user_1' })
      }
    }
    const stop = serveRows(rows)
    const owners = [...groups, ...people.map(id => ({ id, exists: true, members: {} }))]
    const seen = new Set<string>()
    for (let number = 0; number < CASES; number++) {
      const id = random.pick(people)
      const isAgent = random.chance(0.1)
      const isAdmin = random.chance(0.1)
      const caller = {
        ...(isAgent
          ? { kind: 'agent', id: newId('agent') }
          : { kind: 'user', id, role: isAdmin ? 'admin' : 'member' }),
        principalId: id,
        keyId: newId('key'),
        scopes: [],
      } as Caller
      const owner = random.pick(owners)
      const action = random.pick(ACTIONS)
      const wanted = model.may(
        { id, kind: caller.kind, isAdmin },
        action,
        owner as model.ModelOwner,
      )
      const real = await demand(
        caller,
        action,
        { principalId: owner.id as PrincipalId },
        () => new AppError('NOT_FOUND', 'missing'),
      ).then(
        () => 'yes',
        ({ code }: AppError) => (code === 'FORBIDDEN' ? 'forbidden' : 'missing'),
      )
      if (real !== wanted) throw differs(number, { caller, action, owner, real, wanted })
      seen.add(`${action} ${wanted}`)
    }
    stop()
    expect(seen.size).toBe(ACTIONS.length * 3 - 2)
  },
  TIME_LIMIT_MS,
)

const put = (rows: Map<string, object>, key: { pk: string; sk: string }, row: object) =>
  rows.set(`${key.pk} ${key.sk}`, { ...key, ...row })

/** Answers reads of these rows in place of a table: it would take most of the time. */
const serveRows = (rows: Map<string, object>) => {
  vi.stubEnv('ESPALIER_TABLE', 'espalier')
  const marshalled = new Map([...rows].map(([name, row]) => [name, marshall(row)]))
  dynamodb().middlewareStack.add(
    () => async args => {
      const { RequestItems } = args.input as {
        RequestItems: Record<string, { Keys: { pk: { S: string }; sk: { S: string } }[] }>
      }
      const keys = RequestItems.espalier?.Keys ?? []
      const items = keys
        .map(({ pk, sk }) => marshalled.get(`${pk.S} ${sk.S}`))
        .filter(item => item !== undefined)
      return { output: { $metadata: {}, Responses: { espalier: items } }, response: {} } as never
    },
    { step: 'initialize', name: 'serve-rows' },
  )
  return () => dynamodb().middlewareStack.remove('serve-rows')
}

const fieldsOf = (error: unknown): string[] => {
  if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error
  return (error.details as { field: string }[]).map(({ field }) => field)
}

const differs = (number: number, details: object): Error =>
  new Error(`Case ${number} of the seed ${SEED} differs: ${JSON.stringify(details, null, 2)}`)
