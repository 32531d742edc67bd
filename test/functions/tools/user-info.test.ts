import { expect, it } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'
import { tool } from '../../../functions/tools/user-info.ts'
import type { CallContext } from '../../../lib/tool/define.ts'
import { actAs, guardClients } from '../../lib/deploy/guard.ts'
import { useWorld, world } from '../../use-world.ts'
import { dataOf, type Person } from '../../world.ts'

useWorld()

const agentOf = (person: Person) => world.createAgent(['user_info'], { key: person.key })

const tellOf = async (agentId: string, key?: string): Promise<Record<string, unknown>> => {
  const answer = await world.run(agentId, 'user_info.get', {}, key === undefined ? {} : { key })
  return JSON.parse(dataOf<{ content: string }>(answer).content)
}

const set = (person: Person, settings: object, path = `principals/${person.id}/`) =>
  world.request('PUT', `/api/v1/${path}tools/user_info/settings`, { body: settings })

it('tells the kind and the name of the owner, and nothing that was not said', async () => {
  const person = await world.createPerson()
  expect(await tellOf(await agentOf(person))).toEqual({ kind: 'user', name: 'Someone' })
})

it('tells what the owner wants agents to know', async () => {
  const person = await world.createPerson()
  const said = {
    preferred_name: 'Sam',
    language: 'Portuguese',
    time_zone: 'America/Sao_Paulo',
    about: 'I grow pears.\nShort answers, please.',
  }
  expect((await set(person, said)).status).toBe(200)
  const known = { kind: 'user', name: 'Someone', ...said }
  expect(await tellOf(await agentOf(person))).toEqual(known)
  // One agent may be told otherwise.
  const agentId = await agentOf(person)
  await world.setSettings(agentId, 'user_info', { preferred_name: 'Doctor Someone' })
  expect(await tellOf(agentId)).toEqual({ ...known, preferred_name: 'Doctor Someone' })
})

it('tells about the owner of the agent, whoever asks', async () => {
  const person = await world.createPerson()
  await set(person, { preferred_name: 'The owner' })
  const agentId = await agentOf(person)
  // The admin's key governs this agent, too.
  expect(await tellOf(agentId)).toMatchObject({ preferred_name: 'The owner' })
  expect(await tellOf(agentId, person.key)).toMatchObject({ preferred_name: 'The owner' })
})

it('knows nothing of what another owner said', async () => {
  const [one, another] = [await world.createPerson(), await world.createPerson()]
  await set(one, { about: 'A private matter' })
  expect(await tellOf(await agentOf(another))).toEqual({ kind: 'user', name: 'Someone' })
})

it('takes a language and a time zone for everyone, but nobody’s name', async () => {
  const person = await world.createPerson()
  const agentId = await agentOf(person)
  expect((await set(person, { language: 'French' }, '')).status).toBe(200)
  expect(await tellOf(agentId)).toMatchObject({ language: 'French' })
  expect((await set(person, { preferred_name: 'All' }, '')).status).toBe(422)
  await set(person, { language: null }, '')
  expect(await tellOf(agentId)).not.toHaveProperty('language')
})

it('tells of an owner that is gone that there is none', async () => {
  const context = {
    principal: { id: 'group_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
    settings: {},
  } as unknown as CallContext
  await expect(tool.operations.get.execute(context)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

it('has a role that lets it read its owner', async () => {
  const { functions } = await routeTable()
  const spec = functions.find(({ name }) => name === 'tool-user_info-get')
  if (!spec) throw new Error('There is no such function.')
  const guard = guardClients()
  const person = await world.createPerson()
  const context = { principal: { id: person.id }, settings: {} } as unknown as CallContext
  expect(await actAs(spec, () => tool.operations.get.execute(context))).toMatchObject({
    name: 'Someone',
  })
  expect(guard.asked()).toBe(1)
  expect(guard.refused).toEqual([])
})
