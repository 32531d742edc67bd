import { afterEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { agentKey } from '../../lib/agent/agent.ts'
import type { Id } from '../../lib/core/ids.ts'
import { ROW_STEPS } from '../../lib/data/row-steps.ts'
import * as table from '../../lib/data/table.ts'
import { configurationKey } from '../../lib/llm/configuration.ts'
import { layerKey } from '../../lib/settings/layer.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf, until } from '../world.ts'

// For some minutes of a deploy functions of two versions run side by side: one has moved a row on,
// and the other doesn't know that shape yet.

useWorld()

const KINDS = ['agent/agent', 'llm', 'settings']
const leave = () => {
  for (const kind of KINDS) delete ROW_STEPS[kind]
}
afterEach(leave)

/** The deploy is through: this code knows the second version of these kinds as well. */
const arrive = () => {
  for (const kind of KINDS) ROW_STEPS[kind] = [{ takes: [], gives: () => ({}) }]
}

/** Newer code elsewhere changes a row, which is of the second version from then on. */
const moveOn = async (key: table.Key) => {
  arrive()
  const { ok } = await table.update(z.object({}), key, { set: { changedElsewhere: true } })
  leave()
  expect(ok).toBe(true)
}

const makeAgent = async () => {
  const body = { name: 'Ours', provider: 'rehearsal', model: 'script' }
  const made = await world.request('POST', '/api/v1/llm-configurations', { body })
  const { id: configurationId } = dataOf<{ id: Id<'llm'> }>(made)
  const model = { model: undefined, llm_configuration_id: configurationId }
  const agent = await world.createAgent(['time'], model)
  await world.setSettings(agent, 'time', { timezone: 'Europe/Berlin' })
  return { agent, configurationId }
}

describe('a row that newer code has moved on', () => {
  it('is answered with 503 by what doesn’t know it yet, and when to come again', async () => {
    const { agent } = await makeAgent()
    await moveOn(agentKey(agent))
    const options = { body: { name: 'Changed' }, headers: { 'if-match': '*' } }
    for (const answer of [
      await world.request('GET', `/api/v1/agents/${agent}`),
      await world.request('PATCH', `/api/v1/agents/${agent}`, options),
      await world.run(agent, 'time.now'),
    ]) {
      expect(answer.status, answer.text).toBe(503)
      expect(answer.body.error?.code).toBe('VERSION_TOO_NEW')
      expect(answer.headers.get('retry-after')).toBe('30')
      expect(answer.text).not.toContain(agent)
    }
    arrive()
    expect((await world.request('GET', `/api/v1/agents/${agent}`)).status).toBe(200)
  })

  it.each([
    ['its model', ({ configurationId }: Made) => configurationKey(configurationId)],
    ['a tool’s settings', ({ agent }: Made) => layerKey('time', agent)],
  ])('keeps a task waiting for new code, and never fails it: %s', async (_, keyOf) => {
    const made = await makeAgent()
    await moveOn(keyOf(made))
    const before = world.logs.length
    const id = await world.createTask(made.agent, '/time now {}')
    await until('a tick has met it', async () =>
      world.logs.slice(before).some(line => JSON.stringify(line).includes('VERSION_TOO_NEW'))
        ? true
        : undefined,
    )
    arrive()
    const { tool_calls } = await world.untilTask(id, 'COMPLETED', 'FAILED')
    expect(tool_calls.map(({ status }) => status)).toEqual(['COMPLETED'])
  })
})

type Made = Awaited<ReturnType<typeof makeAgent>>
