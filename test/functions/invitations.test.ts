import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { listAudit } from '../../lib/audit/audit.ts'
import { type Id, newId } from '../../lib/core/ids.ts'
import { INVITATION_HOURS, openInvitation } from '../../lib/principal/invitation.ts'
import { roleIn } from '../../lib/principal/member.ts'
import { takeSteps } from '../../lib/principal/steps.ts'
import { taking } from '../../lib/principal/take-invitation.ts'
import { createBrowser } from '../browser.ts'
import { startProvider } from '../oidc.ts'
import { useWorld, world } from '../use-world.ts'
import { dataOf, type Person, snapshot } from '../world.ts'

useWorld()

let provider: Awaited<ReturnType<typeof startProvider>>
beforeAll(async () => {
  provider = await startProvider(`${world.url}/sign-in/callback`)
})
afterAll(() => provider.close())
beforeEach(() => vi.stubEnv('ESPALIER_RATE_LIMITS', 'key=off, address=off, everyone=off'))
afterEach(() => vi.unstubAllEnvs())

const useProvider = () => {
  vi.stubEnv('ESPALIER_OIDC_ISSUER', provider.issuer)
  vi.stubEnv('ESPALIER_OIDC_CLIENT_ID', provider.clientId)
  vi.stubEnv('ESPALIER_OIDC_CLIENT_SECRET', provider.clientSecret)
}

type Made = { id: string; token: string; url: string | null; status: string }
type Taken = { user_id: Id<'user'>; key: string }
const request = (method: string, path: string, options: { key?: string | null; body?: unknown }) =>
  world.request(method, `/api/v1/invitations${path}`, options)
const as = (key: string | undefined) => (key === undefined ? {} : { key })
const make = (body: object, key?: string) => request('POST', '', { body, ...as(key) })
const made = async (body: object = {}, key?: string) => dataOf<Made>(await make(body, key))
const accept = (token: string) =>
  request('POST', '/accept', { key: null, body: { token, name: 'Ada' } })
const list = async (query = '', key?: string) =>
  dataOf<Made[]>(await request('GET', query, as(key)))

const group = async (owner: Person): Promise<Id<'group'>> =>
  dataOf<{ id: Id<'group'> }>(
    await world.request('POST', '/api/v1/groups', { key: owner.key, body: { name: 'Group' } }),
  ).id

const visit = async (token: string, account: { sub: string } & Record<string, unknown>) => {
  provider.be(account)
  const browser = createBrowser()
  const where = encodeURIComponent('/api/v1/principals/me')
  const { last } = await browser.follow(
    `${world.url}/sign-in?invitation=${token}&return_to=${where}`,
  )
  return last
}

describe('an invitation', () => {
  it('is taken without a provider for a user and a key, which work at once', async () => {
    const { token, url, status } = await made()
    expect([url, status]).toEqual([null, 'open'])
    const { user_id, key } = dataOf<Taken>(await accept(token))
    expect(dataOf(await world.request('GET', '/api/v1/principals/me', { key }))).toMatchObject({
      id: user_id,
      role: 'member',
      scopes: ['decide'],
    })
  })

  it('counts once, however many take it at the same time', async () => {
    const { token, id } = await made()
    const answers = await Promise.all(Array.from({ length: 6 }, () => accept(token)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 403, 403, 403, 403, 403])
    const taken = (await list()).find(each => each.id === id)
    const winner = answers.find(({ status }) => status === 201)
    expect(taken).toMatchObject({
      status: 'taken',
      taken_by: winner && dataOf<Taken>(winner).user_id,
    })
    expect((await request('DELETE', `/${id}`, {})).status).toBe(409)
  })

  it('that ends between being read and being taken is not taken', async () => {
    const now = { now: () => new Date() }
    const late = { now: () => new Date(Date.now() + 3_600_000) }
    const take = async (token: string, then: (id: string) => unknown, clock = now) => {
      const invitation = await openInvitation(token)
      await then(invitation.id)
      return takeSteps(await taking(invitation, newId('user'), clock))
    }
    const nothing = () => undefined
    for (const [then, clock] of [
      [(_: string, token: string) => accept(token), now],
      [(id: string) => request('DELETE', `/${id}`, {}), now],
      [nothing, late],
    ] as const) {
      const { token } = await made({ expires_in_hours: 1 })
      await expect(take(token, id => then(id, token), clock)).rejects.toMatchObject({
        code: 'SIGN_IN_REFUSED',
      })
    }
    const { token } = await made({ expires_in_hours: 1 })
    await expect(take(token, nothing)).resolves.toBeUndefined()
  })

  it('that was revoked, has expired or is another’s opens nothing', async () => {
    const [revoked, old, other] = [await made(), await made({ expires_in_hours: 1 }), await made()]
    for (let time = 0; time < 2; time++)
      expect((await request('DELETE', `/${revoked.id}`, {})).status).toBe(200)
    const at = (milliseconds: number) => ({
      now: () => new Date(Date.now() + 3_600_000 + milliseconds),
    })
    await expect(openInvitation(old.token, at(-5_000))).resolves.toMatchObject({ id: old.id })
    await expect(openInvitation(old.token, at(0))).rejects.toMatchObject({
      code: 'SIGN_IN_REFUSED',
    })
    const parts = other.token.split('_')
    for (const token of [
      revoked.token,
      `inv_${parts[1]}_${'x'.repeat(43)}`,
      `${other.token}x`,
      'made up',
    ]) {
      const before = await snapshot()
      expect((await accept(token)).status).toBe(403)
      expect(await snapshot()).toEqual(before)
    }
  })

  it('is taken by signing in, by someone whom nothing else would let in', async () => {
    useProvider()
    const { token, url } = await made({ role: 'admin' })
    expect(url).toBe(`${world.url}/sign-in?invitation=${token}`)
    expect((await accept(token)).status).toBe(409)
    const last = await visit(token, { sub: 'invited', name: 'Ivy' })
    expect(last?.data).toMatchObject({ kind: 'user', role: 'admin' })
    // Whoever was invited comes back without it, and nobody else comes in with it.
    const again = await createBrowser().follow(
      `${world.url}/sign-in?return_to=/api/v1/principals/me`,
    )
    expect(again.last?.data.id).toBe(last?.data.id)
    expect((await visit(token, { sub: 'somebody else' }))?.status).toBe(403)
  })

  it('for an e-mail is taken only with that one, verified', async () => {
    useProvider()
    const { token } = await made({ email: 'Ada@Example.com' })
    for (const [index, claims] of [
      {},
      { email: 'ada@example.com' },
      { email: 'ada@example.com', email_verified: false },
      { email: 'eve@example.com', email_verified: true },
    ].entries()) {
      const last = await visit(token, { sub: `stranger-${index}`, ...claims })
      expect(last?.status).toBe(403)
      expect(last?.text).toContain('another e-mail')
    }
    const last = await visit(token, { sub: 'ada', email: 'ADA@example.com', email_verified: true })
    expect(last?.status).toBe(200)
  })

  it('for an e-mail is not made where nobody can prove one', async () => {
    const answer = await make({ email: 'ada@example.com' })
    expect(answer.body.error?.code).toBe('INVALID_STATE')
  })

  it('into a group makes its taker a member, in the role that it says', async () => {
    const owner = await world.createPerson(['decide'])
    const id = await group(owner)
    const { token } = await made({ group_id: id, group_role: 'admin' }, owner.key)
    const { user_id } = dataOf<Taken>(await accept(token))
    expect(await roleIn(id, user_id)).toBe('admin')
    const { token: owning } = await made({ group_id: id, group_role: 'owner' }, owner.key)
    const second = dataOf<Taken>(await accept(owning))
    expect(await roleIn(id, second.user_id)).toBe('owner')
    // An owner more: the first may go.
    const leave = `/api/v1/groups/${id}/members/${owner.id}`
    expect((await world.request('DELETE', leave, { key: owner.key })).status).toBe(200)
  })

  it('into a group that has ended makes nobody', async () => {
    const owner = await world.createPerson()
    const id = await group(owner)
    const { token } = await made({ group_id: id }, owner.key)
    expect((await world.request('DELETE', `/api/v1/groups/${id}`, { key: owner.key })).status).toBe(
      200,
    )
    const before = await snapshot()
    const answer = await accept(token)
    expect(answer.status).toBe(403)
    expect(answer.body.error?.message).toContain('is gone')
    expect(await snapshot()).toEqual(before)
  })

  it('takes a user who is here already into the group, and stays open for who is in it', async () => {
    useProvider()
    const owner = await world.createPerson()
    const id = await group(owner)
    const { token: first } = await made()
    const here = await visit(first, { sub: 'is here' })
    const invitation = await made({ group_id: id }, owner.key)
    const last = await visit(invitation.token, { sub: 'is here' })
    expect(last?.data.id).toBe(here?.data.id)
    expect(await roleIn(id, String(here?.data.id) as Id<'user'>)).toBe('member')
    const next = await made({ group_id: id }, owner.key)
    expect((await visit(next.token, { sub: 'is here' }))?.status).toBe(200)
    const status = (await list(`?group_id=${id}`, owner.key)).find(each => each.id === next.id)
    expect(status).toMatchObject({ status: 'open' })
    const { token: raising } = await made({ role: 'admin', group_id: id })
    expect((await visit(raising, { sub: 'is here' }))?.data).toMatchObject({ role: 'admin' })
  })

  it('is open for a week unless it says otherwise, and for no more than a month', async () => {
    const { id } = await made()
    const { expires_at, created_at } = (await list()).find(
      each => each.id === id,
    ) as never as Record<string, string>
    const hours = (Date.parse(expires_at ?? '') - Date.parse(created_at ?? '')) / 3_600_000
    expect(hours).toBe(INVITATION_HOURS)
    expect((await make({ expires_in_hours: 720 })).status).toBe(201)
    for (const expires_in_hours of [0, 721, 1.5, '1'])
      expect((await make({ expires_in_hours })).status).toBe(422)
  })

  it('is made once under an Idempotency-Key, and its token shown once', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const options = { body: {}, headers }
    const first = await world.request('POST', '/api/v1/invitations', options)
    const { id } = dataOf<Made>(first)
    const second = await world.request('POST', '/api/v1/invitations', options)
    expect(second.status).toBe(409)
    expect(second.body.error?.details).toEqual({ id })
  })

  it('leaves its token and the key that it gave in no row, list or log', async () => {
    useProvider()
    const { token } = await made()
    await visit(token, { sub: 'hidden' })
    vi.stubEnv('ESPALIER_OIDC_ISSUER', '')
    const other = await made()
    const { key } = dataOf<Taken>(await accept(other.token))
    const everything = JSON.stringify([await snapshot(), world.logs, await list()])
    for (const text of [token, other.token, key])
      for (const secret of [text, text.slice(-43)]) expect(everything).not.toContain(secret)
  })
})

describe('who invites', () => {
  it('is an admin to anything, and a group’s owners and admins into it alone', async () => {
    const [owner, admin, member, stranger] = await Promise.all(
      Array.from({ length: 4 }, () => world.createPerson(['decide'])),
    )
    if (!owner || !admin || !member || !stranger) throw new Error('There is nobody.')
    const group_id = await group(owner)
    for (const [person, role] of [
      [admin, 'admin'],
      [member, 'member'],
    ] as const)
      dataOf(
        await world.request('POST', `/api/v1/groups/${group_id}/members`, {
          key: owner.key,
          body: { user_id: person.id, role },
        }),
      )
    const into = { group_id }
    const expected: [object, number[]][] = [
      //                                        owner admin member stranger
      [into, [201, 201, 403, 404]],
      [{ ...into, group_role: 'admin' }, [201, 201, 403, 404]],
      [{ ...into, group_role: 'owner' }, [201, 403, 403, 404]],
      [{ ...into, role: 'admin' }, [403, 403, 403, 403]],
      [{}, [403, 403, 403, 403]],
      [{ role: 'admin' }, [403, 403, 403, 403]],
    ]
    for (const [body, statuses] of expected) {
      const answers = [owner, admin, member, stranger].map(({ key }) => make(body, key))
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(statuses)
      expect((await make(body)).status).toBe(201)
    }
    expect((await request('GET', `?group_id=${group_id}`, { key: member.key })).status).toBe(403)
    expect((await request('GET', `?group_id=${group_id}`, { key: stranger.key })).status).toBe(404)
    const { id } = await made(into, owner.key)
    expect((await request('DELETE', `/${id}`, { key: stranger.key })).status).toBe(404)
    expect((await request('DELETE', `/${id}`, { key: member.key })).status).toBe(403)
    expect((await request('DELETE', `/${id}`, { key: admin.key })).status).toBe(200)
    const owning = await made({ ...into, group_role: 'owner' }, owner.key)
    expect((await request('DELETE', `/${owning.id}`, { key: admin.key })).status).toBe(403)
  })

  it('who is to decide does so with the scope "decide", and gives no more time than there is', async () => {
    const owner = await world.createPerson()
    const group_id = await group(owner)
    for (const group_role of ['owner', 'admin'])
      expect((await make({ group_id, group_role }, owner.key)).status).toBe(403)
    expect((await make({ group_id, group_role: 'member' }, owner.key)).status).toBe(201)
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const mine = async (scopes: string[]) => {
      const body = { name: 'Short', scopes, expires_at }
      return dataOf<{ key: string }>(await world.request('POST', '/api/v1/keys', { body })).key
    }
    expect((await make({ role: 'admin' }, await mine([]))).status).toBe(403)
    expect(await made({}, await mine([]))).toMatchObject({ expires_at })
    expect(await made({ role: 'admin' }, await mine(['decide']))).toMatchObject({ expires_at })
  })

  it('lets nobody in once they may not invite any more, not even themselves', async () => {
    const member = async (id: string, person: Person, role: string) => {
      const body = { user_id: person.id, role }
      dataOf(await world.request('POST', `/api/v1/groups/${id}/members`, { body }))
    }
    const owner = await world.createPerson(['decide'])
    const id = await group(owner)
    const change = async (method: string, path: string, body?: object) =>
      dataOf(await world.request(method, path, body ? { body } : {}))
    const ends: [string, object, (who: Person) => Promise<unknown>][] = [
      ['out', { group_id: id }, who => change('DELETE', `/api/v1/groups/${id}/members/${who.id}`)],
      [
        'a mere member',
        { group_id: id, group_role: 'admin' },
        who => change('PATCH', `/api/v1/groups/${id}/members/${who.id}`, { role: 'member' }),
      ],
      [
        'disabled',
        { group_id: id },
        who => change('PATCH', `/api/v1/users/${who.id}`, { disabled: true }),
      ],
    ]
    for (const [what, body, end] of ends) {
      const admin = await world.createPerson(['decide'])
      await member(id, admin, 'admin')
      const [seen, racing] = [await made(body, admin.key), await made(body, admin.key)]
      // One is being taken as its maker's role ends, the other is taken afterwards.
      const steps = await taking(await openInvitation(racing.token), newId('user'), {
        now: () => new Date(),
      })
      await end(admin)
      await expect(takeSteps(steps), what).rejects.toMatchObject({ code: 'SIGN_IN_REFUSED' })
      const before = await snapshot()
      const answer = await accept(seen.token)
      expect([what, answer.status]).toEqual([what, 403])
      expect(answer.text).toContain('may not invite')
      expect(await snapshot()).toEqual(before)
    }
    const second = await world.createPerson(['decide'])
    await member(id, second, 'owner')
    const owning = await made({ group_id: id, group_role: 'owner' }, second.key)
    const joining = await made({ group_id: id, group_role: 'admin' }, second.key)
    await change('PATCH', `/api/v1/groups/${id}/members/${second.id}`, { role: 'admin' })
    expect((await accept(owning.token)).status).toBe(403)
    // What an admin may give it still gives.
    expect((await accept(joining.token)).status).toBe(201)
  })

  it('is no admin again by an invitation that they made as one', async () => {
    useProvider()
    const { token: first } = await made({ role: 'admin' })
    const mallory = String((await visit(first, { sub: 'mallory' }))?.data.id) as Id<'user'>
    const { key } = await world.createUserKey(mallory, ['decide'])
    const { token } = await made({ role: 'admin' }, key)
    const { token: plain } = await made({}, key)
    dataOf(await world.request('PATCH', `/api/v1/users/${mallory}`, { body: { role: 'member' } }))
    const last = await visit(token, { sub: 'mallory' })
    expect(last?.status).toBe(403)
    expect(dataOf(await world.request('GET', `/api/v1/users/${mallory}`))).toMatchObject({
      role: 'member',
    })
    expect((await visit(plain, { sub: 'a friend of mallory' }))?.status).toBe(403)
  })

  it('names a group that there is, and a role in it only with one', async () => {
    const nowhere = 'group_01ARZ3NDEKTSV4RRFFQ69G5FAV'
    expect((await make({ group_id: nowhere })).status).toBe(404)
    const answer = await make({ group_role: 'admin' })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('group_id')
  })

  it('is in the log with whom it was for and who took it, and the token never is', async () => {
    const owner = await world.createPerson()
    const id = await group(owner)
    const invitation = await made({ group_id: id }, owner.key)
    const { user_id } = dataOf<Taken>(await accept(invitation.token))
    const other = await made({ group_id: id }, owner.key)
    await request('DELETE', `/${other.id}`, { key: owner.key })
    const { items } = await listAudit(id, { limit: 20 })
    const entries = items.filter(({ action }) => action.startsWith('invitation-'))
    expect(entries.map(({ action, by, target }) => [action, by, target]).toReversed()).toEqual([
      ['invitation-made', owner.id, invitation.id],
      ['invitation-taken', user_id, invitation.id],
      ['invitation-made', owner.id, other.id],
      ['invitation-revoked', owner.id, other.id],
    ])
    await made({ role: 'admin' })
    const [last] = (await listAudit('instance', { limit: 1 })).items
    expect(last).toMatchObject({ action: 'invitation-made', to: { role: 'admin' } })
  })
})
