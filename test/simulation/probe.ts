import * as z from 'zod'
import { defineTool } from '../../lib/tool/define.ts'
import { lives } from './clock.ts'
import { currentRun } from './current.ts'

/** What an operation did, once; the run's log of them is the truth of what has run. */
export type EffectDone = {
  callId: string
  operation: string
  effect: string
  text: string
  at: number
  isApproved: boolean
}

/** What an operation of ours throws when it is meant to. */
class ProbeFailure extends Error {}

/** How long an operation takes, in milliseconds; the slow one goes past its time now and then. */
const USUAL_MS = 400
const SLOW_MS = [5_000, 26_500] as const
/** Longer than anyone waits for: it is run as an event, and its end is a wake. */
const LONG_TIMEOUT_SECONDS = 120
const LONG_MS = [10_000, 125_000] as const

const text = z.string().describe('What it is about.')
const parameters = z.object({ text })

type Context = {
  parameters: { text: string }
  call: { id: string; operation: string; effect: string; approvedBy?: string }
}

const perform = async ({ parameters: { text }, call }: Context, takesMs: number) => {
  const run = currentRun()
  const life = lives.getStore()
  if (!life) throw new Error('An operation runs outside of a function.')
  const kinds = { before: 'killed before an effect', after: 'killed after an effect' } as const
  await run.clock.sleep(takesMs)
  await run.functions.pass(life, `has its effect: ${call.operation} ${text}`, kinds)
  run.effects.push({
    callId: call.id,
    operation: call.operation,
    effect: call.effect,
    text,
    at: run.clock.now(),
    isApproved: call.approvedBy !== undefined,
  })
  await run.functions.leave(life, kinds)
  return `Did ${text}`
}

const usual = (context: Context) => perform(context, currentRun().random.around(USUAL_MS))

const describe = ({ text }: { text: string }) => `Do ${text}`

/** Operations of every kind, whose effects are counted. */
export const probe = defineTool({
  name: 'probe',
  description: 'Does things that are counted.',
  operations: {
    look: { description: 'Look.', parameters, effect: 'read', describe, execute: usual },
    put: { description: 'Put.', parameters, effect: 'idempotent', describe, execute: usual },
    send: { description: 'Send.', parameters, effect: 'once', describe, execute: usual },
    gated: {
      description: 'Send after approval.',
      parameters,
      effect: 'once',
      requiresApprovalByDefault: true,
      describe,
      execute: usual,
    },
    gated_put: {
      description: 'Put after approval.',
      parameters,
      effect: 'idempotent',
      requiresApprovalByDefault: true,
      describe,
      execute: usual,
    },
    slow: {
      description: 'Send slowly.',
      parameters,
      effect: 'once',
      describe,
      execute: context => perform(context, currentRun().random.int(...SLOW_MS)),
    },
    long: {
      description: 'Send for minutes.',
      parameters,
      effect: 'once',
      timeoutSeconds: LONG_TIMEOUT_SECONDS,
      describe,
      execute: context => perform(context, currentRun().random.int(...LONG_MS)),
    },
    fail: {
      description: 'Fail.',
      parameters,
      effect: 'once',
      describe,
      execute: async context => {
        await usual(context)
        throw new ProbeFailure('It failed.')
      },
    },
  },
})
