import { Agent, agentKey, getAgent } from '../agent/agent.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { AppError, notFound, otherRequest } from '../core/errors.ts'
import { derivedId, type Id, idOf, newId } from '../core/ids.ts'
import * as table from '../data/table.ts'
import { outboxWrites } from '../notification/outbox.ts'
import { type Caller, type Claim, type Credential, claimOf } from '../principal/caller.ts'
import { useWrites } from '../principal/key-use.ts'
import { roleKeys } from '../principal/member.ts'
import { allows, isGroup, relationFrom, relationTo } from '../principal/permission.ts'
import { principalKey } from '../principal/principal.ts'
import { limitCaller } from '../principal/rate-limit.ts'
import type { Tool } from '../tool/define.ts'
import { sha256 } from './digest.ts'
import { elapse } from './elapse.ts'
import { admit, gateKeys } from './gate.ts'
import { nameCall } from './name-call.ts'
import { proposeCall } from './propose.ts'
import { mayStart, startOf } from './receipt.ts'
import { run } from './run.ts'
import { runStored } from './stored.ts'
import { createCall, type ToolCall } from './tool-call.ts'

export type CallRequest = {
  credential: Credential
  /** The agent that a user's key names, as it came; an agent's key may name itself. */
  agentId?: string
  operation: string
  /** The rest of the request, read once it is known who asks. */
  read: () => Promise<{
    values: Record<string, unknown>
    idempotencyKey: string | undefined
  }>
}

/**
 * Runs an operation for whoever asks over HTTP: authenticates, passes the gate, and then either
 * runs it or puts it up for approval. The same Idempotency-Key gives the same call again.
 */
export const runRequest = async (
  tool: Tool,
  request: CallRequest,
  clock: Clock = systemClock,
): Promise<ToolCall> => {
  const { caller, agent, found } = await resolve(tool, request, clock)
  const { values, idempotencyKey } = await request.read()
  const admission = admit({ agent, tool, found, operation: request.operation, values })
  const { operation, parameters } = admission
  if (operation.effect === 'once' && idempotencyKey === undefined)
    throw new AppError(
      'BAD_REQUEST',
      `Running "${operation.name}" twice would have a second effect: send a header Idempotency-Key, and the same one when you try again.`,
    )
  const requestHash = sha256([agent.id, parameters])
  const id =
    idempotencyKey === undefined
      ? newId('call')
      : derivedId('call', caller.id, tool.name, operation.name, idempotencyKey)
  const proposed = await proposeCall(
    { id, meta: {}, requestHash, startedBy: caller.id },
    admission,
    clock,
  )
  // The record starts as started: one write fewer where nobody needs to be asked, nor to wait.
  const call: ToolCall =
    proposed.status === 'REQUESTED' && !proposed.isLong
      ? { ...proposed, status: 'STARTED', ...startOf(operation, clock) }
      : proposed
  await nameCall(call)
  const notices = await outboxWrites({ type: 'call.waiting', call, agentName: agent.name }, clock)
  const outcome = await createCall(call, { also: useWrites(caller, clock), notices })
  if (!outcome.ok) {
    const first = outcome.item
    if (first?.requestHash !== requestHash) throw otherRequest()
    return answerAgain(await elapse(first, clock), tool, clock)
  }
  if (call.status === 'PENDING_APPROVAL') return call
  if (call.isLong) return sendOff(call)
  return run(call, admission, clock)
}

const AgentId = idOf('agent')

type Resolved = { caller: Caller; agent: Agent; found: table.Found }

/** The gate's first half: who calls, for which agent, and may they. */
const resolve = async (
  tool: Tool,
  { credential, agentId: text }: CallRequest,
  clock: Clock,
): Promise<Resolved> => {
  const claim = claimOf(credential)
  const named = AgentId.safeParse(text).data
  const hinted = claim.subjectId?.startsWith('agent_') ? (claim.subjectId as Id<'agent'>) : named
  const first = await table.batchGet([
    ...claim.keys,
    ...(hinted ? gateKeys(tool.name, hinted, claim.principalId) : []),
  ])
  claim.check(first, clock)
  const hint = hinted && first.get(Agent, agentKey(hinted))
  const isElsewhere = hint !== undefined && hint.principalId !== claim.principalId
  const second = isElsewhere ? await readElsewhere(tool, hint, claim) : undefined
  const caller = await claim.prove(second ? both(second, first) : first, clock)
  await limitCaller(caller, clock)
  if (text !== undefined && named === undefined) throw notFound('agent', text)
  const agentId = caller.kind === 'agent' ? caller.id : named
  if (!agentId)
    throw new AppError('BAD_REQUEST', 'Name the agent to act for in the header Espalier-Agent.')
  if (named !== undefined && named !== agentId) throw notFound('agent', named)
  const asked = hint?.id === agentId ? hint : await getAgent(agentId)
  const found = asked === hint ? (second ?? first) : await readElsewhere(tool, asked, claim)
  const agent = found.get(Agent, agentKey(agentId))
  if (!agent) throw notFound('agent', agentId)
  // What was read is what the former principal set.
  if (agent.principalId !== asked.principalId)
    throw new AppError('REQUEST_IN_PROGRESS', 'The agent was transferred just now. Try again.')
  if (!(await mayRun(caller, agent, { found, claim }))) throw notFound('agent', agentId)
  return { caller, agent, found }
}

/** An agent's key runs the agent's own operations; a user's, those of agents that it may have run. */
const mayRun = async (
  caller: Caller,
  { principalId }: Agent,
  { found, claim }: { found: table.Found; claim: Claim },
): Promise<boolean> => {
  if (caller.kind === 'agent') return true
  const relation = namesUser(claim)
    ? relationFrom(found, caller, principalId)
    : await relationTo(caller, principalId)
  return allows(relation, 'run')
}

/** What decides about an agent that is another principal's than the credential's. */
const readElsewhere = (
  tool: Tool,
  { id, principalId }: Pick<Agent, 'id' | 'principalId'>,
  claim: Claim,
): Promise<table.Found> =>
  table.batchGet([
    ...gateKeys(tool.name, id, principalId),
    principalKey(principalId),
    ...(isGroup(principalId) && namesUser(claim) ? roleKeys(principalId, claim.subjectId) : []),
  ])

const namesUser = (claim: Claim): claim is Claim & { subjectId: Id<'user'> } =>
  claim.subjectId?.startsWith('user_') === true

const both = (one: table.Found, other: table.Found): table.Found => ({
  get: (schema, key) => one.get(schema, key) ?? other.get(schema, key),
})

/** Has a long call run by the function that also took the request; whoever asked looks later. */
const sendOff = async (call: ToolCall): Promise<ToolCall> => {
  const { invokeOperation } = await import('./invoke.ts')
  await invokeOperation(call)
  return call
}

/** What came of it, if it has ended; what never started, or died and may run again, runs now. */
const answerAgain = async (call: ToolCall, tool: Tool, clock: Clock): Promise<ToolCall> => {
  if (mayStart(call, clock))
    return call.isLong ? sendOff(call) : runStored(tool, call.id, { clock })
  if (call.status !== 'STARTED' || call.isLong) return call
  throw new AppError('REQUEST_IN_PROGRESS', 'The same request is still running. Try again shortly.')
}
