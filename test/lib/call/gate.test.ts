import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { digestOf } from '../../../lib/call/digest.ts'
import { type Admission, admit } from '../../../lib/call/gate.ts'
import { AppError, type ErrorCode } from '../../../lib/core/errors.ts'
import { newId } from '../../../lib/core/ids.ts'
import type { Found, Key } from '../../../lib/data/table.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { setting } from '../../../lib/tool/setting.ts'
import { agent } from '../../agent-row.ts'

// What settings are fingerprinted with.
process.env.ESPALIER_SETTINGS_KEYS = `k1:${randomBytes(32).toString('base64')}`

/** What a batched read would have found. */
const foundOf = (items: Record<string, unknown>): Found => ({
  get: (schema, { pk, sk }: Key) => {
    const item = items[`${pk}/${sk}`]
    return item === undefined ? undefined : schema.parse(item)
  },
})

type State = {
  tool: 'absent' | 'disabled' | 'enabled'
  isConfigured: boolean
  isAvailable: boolean
  asked: 'go' | 'nothing' | undefined
  enabledByDefault: boolean
  enabled: boolean | undefined
  approvalByDefault: boolean
  approval: boolean | undefined
  values: 'valid' | 'wrong type' | 'unknown name' | 'missing'
}

const override = fc.constantFrom(undefined, true, false)
const states: fc.Arbitrary<State> = fc.record({
  tool: fc.constantFrom('absent', 'disabled', 'enabled', 'enabled', 'enabled'),
  isConfigured: fc.boolean(),
  isAvailable: fc.boolean(),
  asked: fc.constantFrom('go', 'go', 'go', 'nothing', undefined),
  enabledByDefault: fc.boolean(),
  enabled: override,
  approvalByDefault: fc.boolean(),
  approval: override,
  values: fc.constantFrom('valid', 'valid', 'wrong type', 'unknown name', 'missing'),
})

const VALUES = {
  valid: { count: 1 },
  'wrong type': { count: 'one' },
  'unknown name': { count: 1, approved: true },
  missing: {},
}

const toolOf = (state: State) =>
  defineTool({
    name: 'probe',
    description: 'A tool.',
    settings: { needed: setting.text({ label: 'Needed', required: true }) },
    available: () => state.isAvailable,
    operations: {
      go: {
        description: 'Go.',
        parameters: z.object({ count: z.int() }),
        enabledByDefault: state.enabledByDefault,
        requiresApprovalByDefault: state.approvalByDefault,
        describe: () => 'Go',
        execute: async () => 'gone',
      },
      other: {
        description: 'Another.',
        parameters: z.object({}),
        describe: () => 'Other',
        execute: async () => 'other',
      },
    },
  })

const itemsOf = ({ tool, isConfigured, enabled, approval }: State) => {
  const written = { updatedAt: '2026-01-01T00:00:00.000Z', updatedBy: 'user' }
  return {
    ...(tool === 'absent'
      ? {}
      : {
          [`${agent.id}/tool#probe`]: {
            agentId: agent.id,
            tool: 'probe',
            enabled: tool === 'enabled',
            ...written,
            ...(enabled === undefined ? {} : { 'enabled#go': enabled }),
            ...(approval === undefined ? {} : { 'requiresApproval#go': approval }),
          },
        }),
    ...(isConfigured
      ? { [`settings#probe/${agent.id}`]: { entry_needed: { value: 'x', ...written } } }
      : {}),
  }
}

const outcomeOf = (state: State): Admission | AppError => {
  try {
    return admit({
      agent,
      tool: toolOf(state),
      operation: state.asked,
      values: VALUES[state.values],
      found: foundOf(itemsOf(state)),
    })
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** The order of the design's section 4, in its own words. */
const refusalOf = (state: State): ErrorCode | undefined => {
  if (state.tool !== 'enabled') return 'TOOL_DISABLED'
  if (!state.isConfigured) return 'SETTING_MISSING'
  if (!state.isAvailable) return 'TOOL_UNAVAILABLE'
  if (state.asked === undefined) return 'VALIDATION_ERROR'
  if (state.asked === 'nothing') return 'NOT_FOUND'
  if (!(state.enabled ?? state.enabledByDefault)) return 'OPERATION_DISABLED'
  if (state.values !== 'valid') return 'VALIDATION_ERROR'
  return undefined
}

describe('the gate', () => {
  it('says the first thing that is wrong, in the order of the design, and lets all else in', () => {
    fc.assert(
      fc.property(states, state => {
        const outcome = outcomeOf(state)
        const refusal = refusalOf(state)
        if (refusal) expect(outcome).toMatchObject({ code: refusal })
        else expect(outcome).toMatchObject({ parameters: { count: 1 } })
      }),
      { numRuns: 400 },
    )
  })

  it('asks for approval as the override says, and as the tool says where there is none', () => {
    fc.assert(
      fc.property(states, state => {
        const open = { ...state, tool: 'enabled', isConfigured: true, isAvailable: true } as const
        const outcome = outcomeOf({ ...open, asked: 'go', values: 'valid', enabled: true })
        const requiresApproval = state.approval ?? state.approvalByDefault
        expect(outcome).toMatchObject({ requiresApproval })
      }),
    )
  })

  it('refuses any argument that nobody declared, and names it', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter(name => name !== 'count'),
        fc.jsonValue(),
        (name, value) => {
          const values = JSON.parse(
            `{"count": 1, ${JSON.stringify(name)}: ${JSON.stringify(value)}}`,
          )
          const error = (() => {
            try {
              return admit({
                agent,
                tool: toolOf(OPEN),
                operation: 'go',
                values,
                found: foundOf(itemsOf(OPEN)),
              })
            } catch (thrown) {
              return thrown
            }
          })()
          expect(error).toMatchObject({ code: 'VALIDATION_ERROR' })
          expect((error as AppError).message).toContain(name)
        },
      ),
    )
  })
})

const OPEN: State = {
  tool: 'enabled',
  isConfigured: true,
  isAvailable: true,
  asked: 'go',
  enabledByDefault: true,
  enabled: undefined,
  approvalByDefault: true,
  approval: undefined,
  values: 'valid',
}

describe('a digest', () => {
  const call = { id: newId('call'), meta: { source: 'x' } }
  const admission = (): Admission => {
    const outcome = outcomeOf(OPEN)
    if (outcome instanceof AppError) throw outcome
    return outcome
  }
  const base = () => digestOf(call, admission())

  it('is the same for the same things, whatever the order of their keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), parameters => {
        const turned = Object.fromEntries(Object.entries(parameters).reverse())
        expect(digestOf(call, { ...admission(), parameters })).toBe(
          digestOf(call, { ...admission(), parameters: turned }),
        )
      }),
    )
    expect(base()).toMatch(/^[0-9a-f]{64}$/)
  })

  const { operation, tool, settings } = admission()
  const changed = (change: Partial<Admission>) => digestOf(call, { ...admission(), ...change })

  it.each<[string, () => string]>([
    ['call', () => digestOf({ ...call, id: newId('call') }, admission())],
    ['meta', () => digestOf({ ...call, meta: { source: 'y' } }, admission())],
    ['agent', () => changed({ agent: { ...agent, id: newId('agent') } })],
    ['principal', () => changed({ agent: { ...agent, principalId: newId('group') } })],
    ['tool', () => changed({ tool: { ...tool, name: 'probe2' } })],
    ['operation', () => changed({ operation: { ...operation, name: 'other' } })],
    ['arguments', () => changed({ parameters: { count: 2 } })],
    [
      'description of the operation',
      () => changed({ operation: { ...operation, description: 'Stay.' } }),
    ],
    ['effect', () => changed({ operation: { ...operation, effect: 'read' } })],
    [
      'parameters of the operation',
      () => changed({ operation: { ...operation, parameters: z.object({ count: z.string() }) } }),
    ],
    ['settings', () => changed({ settings: { ...settings, fingerprint: 'other' } })],
  ])('changes with the %s', (_, digest) => {
    expect(digest()).not.toBe(base())
  })

  it.each<[string, () => string]>([
    ['agent’s name', () => changed({ agent: { ...agent, name: 'Other' } })],
    ['agent’s prompt', () => changed({ agent: { ...agent, systemPrompt: 'Be kind.' } })],
    ['need of approval', () => changed({ requiresApproval: false })],
    ['memory of its function', () => changed({ operation: { ...operation, memoryMb: 1 } })],
    ['tool’s looks', () => changed({ tool: { ...tool, displayName: 'Other', icon: 'star' } })],
  ])('does not change with the %s', (_, digest) => {
    expect(digest()).toBe(base())
  })
})
