import { afterAll, beforeAll, expect, it } from 'vitest'
import { ApiError, createClient, dataOf } from '../../functions/client.ts'
import { startWorld, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

const model = { provider: 'rehearsal', name: 'script' } as const

it('the typed client makes, reads and lists by the routes’ own names', async () => {
  const { agents, tasks } = createClient(world.url, world.adminKey).api.v1
  const { id } = await dataOf(agents.$post({ json: { name: 'Ada', model } }))
  await dataOf(agents[':id'].tools[':tool'].enable.$post({ param: { id, tool: 'time' } }))
  const json = { agent_id: id, prompt: '/time now {}' }
  const task = await dataOf(tasks.$post({ json }))
  await world.untilTask(task.id, 'COMPLETED')
  const ended = await dataOf(tasks[':id'].$get({ param: { id: task.id } }))
  expect(ended.tool_calls).toMatchObject([{ tool: 'time', status: 'COMPLETED' }])
  const page = await agents.$get({ query: { limit: '1' } })
  expect(await page.json()).toMatchObject({ data: [{ id, name: 'Ada' }] })
})

it('a header of a request goes along, so that a second try finds the first', async () => {
  const { agents } = createClient(world.url, world.adminKey).api.v1
  const make = () =>
    dataOf(agents.$post({ json: { name: 'Bob', model }, header: { 'idempotency-key': 'bob' } }))
  expect((await make()).id).toBe((await make()).id)
})

it('an error of the API is thrown with its code and its details', async () => {
  const { agents } = createClient(world.url, world.adminKey).api.v1
  const refusal = await dataOf(agents.$post({ json: { name: 'x'.repeat(101), model } })).catch(
    error => error,
  )
  expect(refusal).toBeInstanceOf(ApiError)
  expect(refusal).toMatchObject({
    status: 422,
    code: 'VALIDATION_ERROR',
    details: [{ field: 'name' }],
  })
  const stranger = createClient(world.url, 'esp_wrong').api.v1
  await expect(dataOf(stranger.agents.$get())).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
})
