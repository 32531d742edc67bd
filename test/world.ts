import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { routeTable } from '../functions/routes.ts'
import { tools } from '../functions/tools/index.ts'
import { config } from '../lib/core/config.ts'
import { type Id, newId } from '../lib/core/ids.ts'
import { serve } from '../lib/http/serve.ts'
import type { StackOptions } from '../lib/local/stack.ts'
import { createKey } from '../lib/principal/key.ts'
import { createUser } from '../lib/principal/principal.ts'
import type { Tool } from '../lib/tool/define.ts'
import { loadFunction } from '../scripts/load-function.ts'
import { dynamodb, s3 } from './sdk.ts'
import { type Answer, startTestStack, type TestStack } from './stack.ts'

/** What the API shows of a call, as far as tests look at it. */
export type CallView = {
  id: string
  status: string
  task_id: string | null
  root_task_id: string | null
  agent_id: string
  tool: string
  operation: string
  description: string
  digest: string
  arguments: Record<string, unknown>
  decided_at: string | null
  truncated: boolean
  result: { is_error: boolean; code: string | null; content: string; data: unknown } | null
}

export type TaskView = {
  id: string
  agent_id: string
  status: string
  final_response: string | null
  parent_task_id: string | null
  root_task_id: string
  error: { code: string; message: string } | null
  handover: { target_task_id: string } | null
  tool_calls: CallView[]
  usage: { steps: number; requests: number; cost_usd: number }
  own_usage: { cost_usd: number | null }
}

export type Person = { id: Id<'user'>; key: string; keyId: Id<'key'> }
export type World = Awaited<ReturnType<typeof startWorld>>

const PATIENCE_MS = 20_000
const POLL_MS = 15

export const dataOf = <T>(answer: Answer): T => {
  if (answer.body.error || answer.status >= 300)
    throw new Error(`${answer.status} ${answer.text.slice(0, 500)}`)
  return answer.body.data as T
}

/** The platform with a test's own tools beside the real ones, and short words for its API. */
export const startWorld = async (
  own: Tool[] = [],
  { wrap = load => load, ...options }: Partial<StackOptions> & { wrap?: WrapLoad } = {},
) => {
  const modules = new Map(own.map(tool => [`tools/${tool.name.replaceAll('_', '-')}`, tool]))
  for (const tool of own) tools[tool.name] = async () => ({ tool })
  const load: StackOptions['load'] = async module => {
    const tool = modules.get(module)
    return tool ? { handler: serve(tool) } : loadFunction(module)
  }
  // Nothing runs by the clock: a test sweeps when it means to.
  const table = { ...(await routeTable()), schedules: [] }
  const stack = await startTestStack({ table, ...options, load: wrap(load) })
  return { ...stack, ...wordsOf(stack) }
}

type WrapLoad = (load: StackOptions['load']) => StackOptions['load']

const wordsOf = (stack: TestStack) => {
  const { request } = stack

  const createAgent = async (
    enabled: string[],
    { key, ...fields }: { key?: string } & Record<string, unknown> = {},
  ): Promise<Id<'agent'>> => {
    const as = key === undefined ? {} : { key }
    const body = { name: 'Agent', model: { provider: 'rehearsal', name: 'script' }, ...fields }
    const { id } = dataOf<{ id: Id<'agent'> }>(
      await request('POST', '/api/v1/agents', { body, ...as }),
    )
    for (const tool of enabled)
      dataOf(await request('POST', `/api/v1/agents/${id}/tools/${tool}/enable`, as))
    return id
  }

  const getTask = async (id: string) =>
    dataOf<TaskView>(await request('GET', `/api/v1/tasks/${id}`))

  const getCall = async (id: string) =>
    dataOf<CallView>(await request('GET', `/api/v1/tool-calls/${id}`))

  const approvals = async () => dataOf<CallView[]>(await request('GET', '/api/v1/approvals'))

  return {
    createAgent,
    getTask,
    getCall,
    approvals,

    createTask: async (agentId: string, ...lines: string[]): Promise<Id<'task'>> =>
      dataOf<{ id: Id<'task'> }>(
        await request('POST', '/api/v1/tasks', {
          body: { agent_id: agentId, prompt: lines.join('\n') },
        }),
      ).id,

    /** Waits until a task is in one of these states. */
    untilTask: (id: string, ...statuses: string[]): Promise<TaskView> =>
      until(`${id} is ${statuses}`, async () => {
        const task = await getTask(id)
        return statuses.includes(task.status) ? task : undefined
      }),

    untilCall: (id: string, ...statuses: string[]): Promise<CallView> =>
      until(`${id} is ${statuses}`, async () => {
        const call = await getCall(id)
        return statuses.includes(call.status) ? call : undefined
      }),

    /** Waits for the approvals that a task or those below it ask for. */
    untilApproval: (rootId: string, count = 1): Promise<[CallView, ...CallView[]]> =>
      until(`${count} approvals of ${rootId}`, async () => {
        const [first, ...more] = (await approvals()).filter(call => call.root_task_id === rootId)
        return first && more.length === count - 1 ? [first, ...more] : undefined
      }),

    decide: (call: CallView, how: 'approve' | 'reject', body: object = {}, key?: string) =>
      request('POST', `/api/v1/tool-calls/${call.id}/${how}`, {
        body: { digest: call.digest, ...body },
        ...(key === undefined ? {} : { key }),
      }),

    override: async (agentId: string, operation: string, body: object) =>
      dataOf(
        await request(
          'PATCH',
          `/api/v1/agents/${agentId}/tools/${operation.replace('.', '/operations/')}`,
          { body },
        ),
      ),

    setSettings: async (agentId: string, tool: string, body: object) =>
      dataOf(await request('PUT', `/api/v1/agents/${agentId}/tools/${tool}/settings`, { body })),

    run: (
      agentId: string | undefined,
      operation: string,
      body: unknown = {},
      { key, headers }: { key?: string | null; headers?: Record<string, string> } = {},
    ) =>
      request('POST', `/api/v1/tools/${operation.replace('.', '/operations/')}`, {
        body,
        ...(key === undefined ? {} : { key }),
        headers: { ...(agentId ? { 'espalier-agent': agentId } : {}), ...headers },
      }),

    createAgentKey: async (agentId: string): Promise<{ id: string; key: string }> =>
      dataOf(await request('POST', `/api/v1/agents/${agentId}/keys`, { body: { name: 'Key' } })),

    createPerson: async (scopes: 'decide'[] = []): Promise<Person> => {
      const id = newId('user')
      const createdAt = new Date().toISOString()
      await createUser({ id, name: 'Someone', role: 'member', createdAt })
      return { id, ...(await createUserKey(id, scopes)) }
    },
    createUserKey,

    history: async (taskId: string) =>
      dataOf<{ role: string; text: string; tool?: string; is_error?: boolean }[]>(
        await request('GET', `/api/v1/tasks/${taskId}/history`),
      ),
  }
}

const createUserKey = async (
  id: Id<'user'>,
  scopes: 'decide'[] = [],
): Promise<{ key: string; keyId: Id<'key'> }> => {
  const { key, text } = await createKey({ name: 'Key', subjectId: id, principalId: id, scopes })
  return { key: text, keyId: key.id }
}

export const until = async <T>(what: string, look: () => Promise<T | undefined>): Promise<T> => {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
  throw new Error(`Waited in vain until ${what}.`)
}

/**
 * Everything that is stored: each item by its key, and the keys of all objects. When keys were last
 * used is left out: a request that is refused is a use as well.
 */
export const snapshot = async (): Promise<Record<string, unknown>> => {
  const items: Record<string, unknown> = {}
  let start: Record<string, unknown> | undefined
  do {
    const page = await dynamodb().send(
      new ScanCommand({
        TableName: config('table'),
        ConsistentRead: true,
        ...(start ? { ExclusiveStartKey: start as never } : {}),
      }),
    )
    for (const item of (page.Items ?? []).map(stored => unmarshall(stored)))
      if (!String(item.pk).startsWith('seen#key_')) items[`${item.pk} / ${item.sk}`] = item
    start = page.LastEvaluatedKey
  } while (start)
  const objects = await s3().send(new ListObjectsV2Command({ Bucket: config('bucket') }))
  for (const { Key } of objects.Contents ?? []) items[`object ${Key}`] = true
  return items
}
