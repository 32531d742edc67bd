import { beforeAll, describe, expect, it } from 'vitest'
import { type Id, newId } from '../../lib/core/ids.ts'
import * as groups from '../../lib/principal/group.ts'
import { addMember } from '../../lib/principal/member.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf, type Person } from '../world.ts'

useWorld()

type Entry = {
  id: string
  at: string
  by: string
  key_id: string | null
  action: string
  target: string
  field: string | null
  from?: unknown
  to?: unknown
}

let owner: Person
let keeper: Person
let member: Person
let group: Id<'group'>

beforeAll(async () => {
  ;[owner, keeper, member] = await Promise.all([
    world.createPerson(),
    world.createPerson(),
    world.createPerson(),
  ])
  group = newId('group')
  await groups.createGroup({ id: group, name: 'Gardeners' }, { ownerId: owner.id })
  await addMember({ groupId: group, userId: keeper.id, role: 'admin', by: owner.id })
  await addMember({ groupId: group, userId: member.id, role: 'member', by: owner.id })
  for (const timezone of ['Europe/Rome', 'Asia/Tokyo', 'UTC'])
    dataOf(
      await world.request('PUT', `/api/v1/principals/${group}/tools/time/settings`, {
        key: keeper.key,
        body: { timezone },
      }),
    )
})

const list = (key: string | null, query = '') =>
  world.request('GET', `/api/v1/audit${query}`, { key })

describe('an audit log', () => {
  it('says who changed what, when, with which key, from what and to what, the newest first', async () => {
    const entries = dataOf<Entry[]>(await list(owner.key, `?principal_id=${group}`))
    const changes = entries.filter(({ action }) => action === 'setting-changed')
    expect(changes.map(({ from, to }) => [from, to])).toEqual([
      ['Asia/Tokyo', 'UTC'],
      ['Europe/Rome', 'Asia/Tokyo'],
      [undefined, 'Europe/Rome'],
    ])
    expect(changes[0]).toMatchObject({
      by: keeper.id,
      key_id: keeper.keyId,
      target: group,
      field: 'time.timezone',
      at: expect.stringMatching(/Z$/),
    })
  })

  it('is read page by page, and by what was changed', async () => {
    const query = `?principal_id=${group}&target=${group}&limit=1`
    const first = await list(owner.key, query)
    const { data, next_cursor } = JSON.parse(first.text) as { data: Entry[]; next_cursor: string }
    expect(data).toMatchObject([{ to: 'UTC' }])
    const second = dataOf<Entry[]>(await list(owner.key, `${query}&cursor=${next_cursor}`))
    expect(second).toMatchObject([{ to: 'Asia/Tokyo' }])
    const other = await list(owner.key, `?principal_id=${group}&target=${newId('agent')}`)
    expect(JSON.parse(other.text)).toEqual({ data: [], next_cursor: null })
    expect((await list(owner.key, '?cursor=nonsense')).status).toBeGreaterThanOrEqual(400)
  })

  it('of a group is for its keepers: its members may not, and to others it is not there', async () => {
    const agent = await world.createAgent([], { key: owner.key })
    const stranger = await world.createPerson()
    const asked = [
      [owner.key, 200],
      [keeper.key, 200],
      [world.adminKey, 200],
      [member.key, 403],
      [stranger.key, 404],
      [(await world.createAgentKey(agent)).key, 404],
      [null, 401],
    ] as const
    for (const [key, status] of asked)
      expect((await list(key, `?principal_id=${group}`)).status).toBe(status)
  })

  it('of a user is for that user, and of one that there isn’t for nobody', async () => {
    expect((await list(owner.key, `?principal_id=${owner.id}`)).status).toBe(200)
    expect((await list(keeper.key, `?principal_id=${owner.id}`)).status).toBe(404)
    expect((await list(world.adminKey, `?principal_id=${newId('user')}`)).status).toBe(404)
    expect((await list(owner.key, '?principal_id=someone')).body.error?.code).toBe('BAD_REQUEST')
  })

  it('of the instance is for its admins', async () => {
    const path = '/api/v1/tools/time/settings'
    dataOf(await world.request('PUT', path, { body: { timezone: 'Europe/Rome' } }))
    dataOf(await world.request('DELETE', `${path}/timezone`))
    const entries = dataOf<Entry[]>(await list(world.adminKey, '?target=instance'))
    expect(entries.slice(0, 2)).toMatchObject([
      { action: 'setting-removed', from: 'Europe/Rome' },
      { action: 'setting-changed', to: 'Europe/Rome' },
    ])
    expect((await list(owner.key)).body.error).toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('?principal_id='),
    })
  })
})
