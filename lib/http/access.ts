import type { Context } from 'hono'
import { type Agent, getAgent } from '../agent/agent.ts'
import { getCall, type ToolCall } from '../call/tool-call.ts'
import { AppError, notFound } from '../core/errors.ts'
import { type Asset, getAsset } from '../media/asset.ts'
import { type Caller, governs } from '../principal/caller.ts'
import { getTask, type Task } from '../task/task.ts'
import { elapseCall } from '../workflow/elapse-call.ts'
import type { Env } from './app.ts'
import { pathId } from './request.ts'

// What is in a path is found only by those it concerns; to everyone else it does not exist.

/** The agent in the path, for whoever governs its owner. */
export const governedAgent = async (context: Context<Env>): Promise<Agent> => {
  const agent = await getAgent(pathId(context, 'agent'))
  if (!governs(context.get('caller'), agent.principalId)) throw notFound('agent', agent.id)
  return agent
}

/** The task in the path, for whoever governs its owner, and for its own agent to read. */
export const readableTask = async (context: Context<Env>): Promise<Task> => {
  const task = await getTask(pathId(context, 'task'))
  if (!mayRead(context.get('caller'), task)) throw notFound('task', task.id)
  return task
}

/** The task in the path, for whoever governs its owner: FORBIDDEN for its own agent. */
export const governedTask = async (context: Context<Env>): Promise<Task> => {
  const task = await readableTask(context)
  if (governs(context.get('caller'), task.principalId)) return task
  throw new AppError('FORBIDDEN', 'An agent’s key can’t do this; use a user’s key.')
}

/** The tool call in the path, for whoever governs its owner, and for its own agent to read. */
export const readableCall = async (context: Context<Env>): Promise<ToolCall> => {
  const id = pathId(context, 'call')
  const call = await getCall(id)
  if (!call || !mayRead(context.get('caller'), call)) throw notFound('tool call', id)
  return elapseCall(call)
}

/** The tool call in the path, for those who may decide it: FORBIDDEN without the scope. */
export const decidableCall = async (context: Context<Env>): Promise<ToolCall> => {
  const call = await readableCall(context)
  const caller = context.get('caller')
  if (governs(caller, call.principalId) && caller.scopes.includes('decide')) return call
  throw new AppError(
    'FORBIDDEN',
    caller.kind === 'agent'
      ? 'An agent never decides; a person does.'
      : 'This key may not decide: it lacks the scope "decide".',
  )
}

/** The media asset in the path, for whoever governs its owner. */
export const governedAsset = async (context: Context<Env>): Promise<Asset> => {
  const asset = await getAsset(pathId(context, 'media'))
  if (!governs(context.get('caller'), asset.principalId)) throw notFound('media asset', asset.id)
  return asset
}

/** The caller's own principal; keys of agents govern nothing. */
export const governingUser = (context: Context<Env>): Caller & { kind: 'user' } => {
  const caller = context.get('caller')
  if (caller.kind === 'user') return caller
  throw new AppError('FORBIDDEN', 'An agent’s key can’t do this; use a user’s key.')
}

const mayRead = (caller: Caller, owned: Pick<Task, 'agentId' | 'principalId'>): boolean =>
  governs(caller, owned.principalId) || caller.id === owned.agentId
