import * as z from 'zod'
import { agentToolKey, agentToolOf, decisionPolicy } from '../agent/agent-tool.ts'
import type { ToolCall } from '../call/tool-call.ts'
import { AppError } from '../core/errors.ts'
import { idOf } from '../core/ids.ts'
import { batchGet } from '../data/table.ts'
import type { Caller } from '../principal/caller.ts'
import {
  type DecisionCase,
  type DecisionPolicy,
  deciderWords,
  decides,
  someoneElseDecides,
} from '../principal/decider.ts'
import { allows, DECIDING, type Relation, relationTo } from '../principal/permission.ts'
import type { PrincipalId } from '../principal/principal.ts'
import { Task, taskKey } from '../task/task.ts'
import { findTool, type ToolRegistry } from '../tool/registry.ts'
import { DECIDERS, type Decider } from '../tool/words.ts'

export const DeciderWord = z.enum(DECIDERS).meta({
  id: 'Decider',
  description:
    'The least role that approves and rejects a call. Of a user’s own agent, each but `instance-admin` is the user; admins of the instance always may.',
})

export const WhoDecidesView = z
  .object({
    decided_by: DeciderWord,
    never_by_starter: z.boolean(),
    started_by: z
      .array(z.string())
      .describe(
        'Who started the task or had it go on, or made the call outside of one: users and agents.',
      ),
    may_decide: z.boolean().describe('Whether whoever reads this may, with this key.'),
    who: z.string().describe('The same as a sentence; it says, too, where nobody is left.'),
  })
  .meta({ id: 'WhoDecides' })

/** What is known of a call that someone may decide. */
type Deciding = { call: ToolCall; policy: DecisionPolicy; startedBy: string[] }

/**
 * Who decides about calls, as it is now: what operators said of their operations, and who started
 * their tasks, in one consistent read of all.
 */
const readDeciding = async (calls: ToolCall[], tools: ToolRegistry): Promise<Deciding[]> => {
  const found = await batchGet(
    calls.flatMap(({ agentId, tool, taskId }) => [
      agentToolKey(agentId, tool),
      ...(taskId ? [taskKey(taskId)] : []),
    ]),
  )
  return Promise.all(
    calls.map(async call => {
      const tool = await findTool(tools, call.tool)
      const operation =
        tool && Object.hasOwn(tool.operations, call.operation)
          ? tool.operations[call.operation]
          : undefined
      const overrides = agentToolOf(found, call.agentId, call.tool)?.operations ?? {}
      const override = Object.hasOwn(overrides, call.operation) ? overrides[call.operation] : {}
      const task = call.taskId && found.get(Started, taskKey(call.taskId))
      const startedBy = task ? await startersOf(task) : (call.startedBy ?? [])
      return { call, policy: decisionPolicy(operation, override), startedBy: [startedBy].flat() }
    }),
  )
}
const Started = z.object(Task.shape).pick({ startedBy: true, alsoStartedBy: true, lineage: true })

/** Who started a task: those above it go on, and those who had them go on started it as much. */
const startersOf = async (task: z.infer<typeof Started>): Promise<string[]> => {
  const above = await batchGet(task.lineage.map(taskKey))
  const all = [task, ...task.lineage.flatMap(id => above.get(Started, taskKey(id)) ?? [])]
  return [
    ...new Set(
      all.flatMap(({ startedBy, alsoStartedBy = [] }) => [startedBy ?? [], alsoStartedBy].flat()),
    ),
  ]
}

/** Lets through who decides about a call, or FORBIDDEN with a sentence that says who does. */
export const demandDecider = async (
  call: ToolCall,
  caller: Caller,
  tools: ToolRegistry,
): Promise<void> => {
  demandPerson(caller)
  const [deciding] = await readDeciding([call], tools)
  if (!deciding) throw new Error('A reader left out what it was given.')
  const relation = await relationTo(caller, call.principalId)
  if (!decides(caseOf(deciding, caller, relation)))
    throw new AppError('FORBIDDEN', `You don’t decide about this call. ${await sentence(deciding)}`)
  demandDecidingKey(caller)
}

/** Refuses agents, whatever their keys may. */
export const demandPerson = (caller: Caller): void => {
  if (caller.kind === 'agent')
    throw new AppError('FORBIDDEN', 'An agent never decides; a person does.')
}

/** Refuses a key without the scope, whoever it belongs to. */
export const demandDecidingKey = (caller: Caller): void => {
  if (!caller.scopes.includes('decide'))
    throw new AppError('FORBIDDEN', 'This key may not decide: it lacks the scope "decide".')
}

/**
 * Lets through who may say of an operation whether its calls are asked about, and whom: that is to
 * decide about all of them, so it takes the role and the scope of who decides about one.
 */
export const demandGoverning = async (
  caller: Caller,
  { principalId }: { principalId: PrincipalId },
  decidedBy: Decider,
): Promise<void> => {
  if (!caller.scopes.includes('decide'))
    throw new AppError(
      'FORBIDDEN',
      'This key may not lift an approval, nor say who decides: it lacks the scope "decide".',
    )
  if (allows(await relationTo(caller, principalId), DECIDING[decidedBy])) return
  throw new AppError(
    'FORBIDDEN',
    `Only who decides about this operation’s calls changes that: ${deciderWords(decidedBy, principalId)}.`,
  )
}

/** Who decides about each call that waits for that, as its reader sees it; null for all others. */
export const presentDeciding = async (
  calls: ToolCall[],
  caller: Caller,
  tools: ToolRegistry,
): Promise<(z.infer<typeof WhoDecidesView> | null)[]> => {
  const waiting = calls.filter(({ status }) => status === 'PENDING_APPROVAL')
  const all = new Map((await readDeciding(waiting, tools)).map(each => [each.call.id, each]))
  const relations = new Map<string, Relation | undefined>()
  for (const { principalId } of waiting)
    if (!relations.has(principalId))
      relations.set(principalId, await relationTo(caller, principalId))
  return Promise.all(
    calls.map(async call => {
      const deciding = all.get(call.id)
      if (!deciding) return null
      const { policy, startedBy } = deciding
      const isDecider = decides(caseOf(deciding, caller, relations.get(call.principalId)))
      return {
        decided_by: policy.decidedBy,
        never_by_starter: policy.neverByStarter,
        started_by: startedBy,
        may_decide: isDecider && caller.scopes.includes('decide'),
        who: await sentence(deciding),
      }
    }),
  )
}

const caseOf = (
  { policy, startedBy }: Deciding,
  caller: Caller,
  relation: Relation | undefined,
): DecisionCase => ({ policy, startedBy, relation, userId: caller.id })

const UserId = idOf('user')

const sentence = async ({ call, policy, startedBy }: Deciding): Promise<string> => {
  const { decidedBy, neverByStarter } = policy
  const { principalId, approvalExpiresAt } = call
  const words = deciderWords(decidedBy, principalId)
  const may = `${words.charAt(0).toUpperCase()}${words.slice(1)} may`
  const starters = startedBy.flatMap(id => UserId.safeParse(id).data ?? [])
  if (!neverByStarter || starters.length === 0) return `${may}.`
  const but = `${may}, but never ${starters.join(' or ')}, who started it.`
  if (await someoneElseDecides(starters, principalId, decidedBy)) return but
  return `${but} There is nobody else at the moment: unless someone comes, or the rule is lifted, it expires at ${approvalExpiresAt}.`
}
