import { beforeAll, describe, expect, it } from 'vitest'
import { useWorld, world } from '../use-world.ts'
import { dataOf, type Person } from '../world.ts'

// An Idempotency-Key finds what it made; whoever has no part in that any more is told nothing of it.

useWorld()

let person: Person
beforeAll(async () => {
  person = await world.createPerson(['decide'])
})

const post = (path: string, body: object, headers: Record<string, string>) =>
  world.request('POST', `/api/v1${path}`, { key: person.key, body, headers })
const admin = async (method: string, path: string, body: object, headers = {}) =>
  dataOf(await world.request(method, `/api/v1${path}`, { body, headers }))

describe('what was made under an Idempotency-Key', () => {
  it('is shown again to whoever may still read it, and to nobody else', async () => {
    const other = await world.createPerson()
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const body = { name: 'Mine', model: { provider: 'rehearsal', name: 'script' } }
    const { id } = dataOf<{ id: string }>(await post('/agents', body, headers))
    expect(dataOf(await post('/agents', body, headers))).toMatchObject({ id, name: 'Mine' })
    const any = { 'if-match': '*' }
    await admin('POST', `/agents/${id}/transfer`, { principal_id: other.id }, any)
    await admin('PATCH', `/agents/${id}`, { system_prompt: 'A secret plan' }, any)
    const again = await post('/agents', body, headers)
    expect(again.status).toBe(404)
    expect(again.text).not.toContain('secret')
  })

  it('is no group to whoever has left it', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const body = { name: 'Ours' }
    const { id } = dataOf<{ id: string }>(await post('/groups', body, headers))
    const other = await world.createPerson()
    await admin('POST', `/groups/${id}/members`, { user_id: other.id, role: 'owner' })
    await admin('DELETE', `/groups/${id}/members/${person.id}`, {})
    await admin('PATCH', `/groups/${id}`, { name: 'Theirs' })
    const again = await post('/groups', body, headers)
    expect(again.status).toBe(404)
    expect(again.text).not.toContain('Theirs')
  })
})
