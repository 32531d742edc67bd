/** What the API's client must compile, and what not: checked by `tsc`, never run. */
import { expectTypeOf } from 'vitest'
import { createClient, dataOf } from '../../functions/client.ts'
import type { Id } from '../../lib/core/ids.ts'
import type { TaskStatus } from '../../lib/task/task.ts'

const { api } = createClient('https://example.com', 'key')
const model = { provider: 'rehearsal', name: 'script' } as const
const id: Id<'agent'> = 'agent_01ARZ3NDEKTSV4RRFFQ69G5FAV'

const agent = await dataOf(api.v1.agents.$post({ json: { name: 'Ada', model } }))
expectTypeOf(agent.id).toEqualTypeOf<Id<'agent'>>()
expectTypeOf(agent.description).toEqualTypeOf<string | null>()

const task = await dataOf(api.v1.tasks.$post({ json: { agent_id: id, prompt: 'Hello' } }))
expectTypeOf(task.status).toEqualTypeOf<TaskStatus>()

const response = await api.v1.agents.$get({ query: { limit: '5' } })
if (response.ok) {
  const body = await response.json()
  expectTypeOf(body.next_cursor).toEqualTypeOf<string | null>()
  expectTypeOf(body.data[0]?.name).toEqualTypeOf<string | undefined>()
} else {
  const { error } = await response.json()
  expectTypeOf(error.message).toEqualTypeOf<string>()
}

// @ts-expect-error: an agent has a name
api.v1.agents.$post({ json: { model } })

// @ts-expect-error: what nobody declared is no field
api.v1.agents.$post({ json: { name: 'Ada', model, colour: 'red' } })

// @ts-expect-error: there is no such provider
api.v1.agents.$post({ json: { name: 'Ada', model: { provider: 'oracle', name: 'x' } } })

// @ts-expect-error: a task's agent is named by an agent's id
api.v1.tasks.$post({ json: { agent_id: 'task_1', prompt: 'Hello' } })

// @ts-expect-error: the path names an agent
api.v1.agents[':id'].$get()

// @ts-expect-error: there is no such route
api.v1.agents.$put({ json: {} })

// @ts-expect-error: nothing of that name is answered
agent.colour
