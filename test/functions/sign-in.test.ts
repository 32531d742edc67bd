import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { listAudit } from '../../lib/audit/audit.ts'
import { SESSION_COOKIE } from '../../lib/http/session.ts'
import { seal } from '../../lib/principal/sealed.ts'
import { endSignIn, SIGN_IN_MINUTES } from '../../lib/principal/sign-in.ts'
import { getUser, replaceUser } from '../../lib/principal/user.ts'
import { createBrowser } from '../browser.ts'
import { startProvider } from '../oidc.ts'
import { useWorld, world } from '../use-world.ts'
import { snapshot } from '../world.ts'

// People sign in at a real provider, on a port of this machine.

useWorld()

const ADA = {
  sub: 'ada-at-the-provider',
  name: 'Ada Lovelace',
  email: 'Ada@Example.com',
  email_verified: true,
  groups: ['operators'],
  hd: 'example.com',
}
const BEGUN = '__Host-espalier-sign-in'
const WHERE = '/api/v1/sessions/current'

let provider: Awaited<ReturnType<typeof startProvider>>
beforeAll(async () => {
  provider = await startProvider(`${world.url}/sign-in/callback`)
})
afterAll(() => provider.close())
beforeEach(() => {
  vi.stubEnv('ESPALIER_RATE_LIMITS', 'key=off, address=off, everyone=off')
  vi.stubEnv('ESPALIER_OIDC_ISSUER', provider.issuer)
  vi.stubEnv('ESPALIER_OIDC_CLIENT_ID', provider.clientId)
  vi.stubEnv('ESPALIER_OIDC_CLIENT_SECRET', provider.clientSecret)
  vi.stubEnv('ESPALIER_OIDC_ALLOW', 'email_domain=example.com')
  provider.be(ADA)
})
afterEach(() => vi.unstubAllEnvs())

type Browser = ReturnType<typeof createBrowser>
const start = (query = `return_to=${WHERE}`) => `${world.url}/sign-in?${query}`
const isCallback = (url: string) => url.startsWith(`${world.url}/sign-in/callback`)

const signIn = async (browser: Browser = createBrowser(), query?: string) => {
  const { hops, last } = await browser.follow(start(query))
  return { browser, hops, last }
}

/** A browser that has been to the provider, and the address that it was sent back to. */
const upToCallback = async (browser: Browser = createBrowser()) => {
  const { hops, next = '' } = await browser.follow(start(), isCallback)
  return { browser, callback: next, asked: new URL(hops[0]?.location ?? '').searchParams }
}

const refusal = async (browser: Browser, url: string) => {
  const before = await snapshot()
  const answer = await browser.ask(url)
  expect(answer.headers.get('content-type')).toContain('text/plain')
  expect(browser.jarOf(world.url).has(SESSION_COOKIE)).toBe(false)
  expect(await snapshot()).toEqual(before)
  return answer
}

describe('signing in', () => {
  it('leads to the provider and back to where someone wanted to go, as who they are there', async () => {
    const { last, hops } = await signIn()
    expect(last?.url).toBe(world.url + WHERE)
    expect(last?.data).toMatchObject({ user_id: expect.stringMatching(/^user_/) })
    const [first] = hops
    const asked = new URL(first?.location ?? '').searchParams
    expect(asked.get('code_challenge_method')).toBe('S256')
    expect(asked.get('redirect_uri')).toBe(`${world.url}/sign-in/callback`)
    expect(asked.get('response_type')).toBe('code')
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(asked.get(name)?.length).toBeGreaterThanOrEqual(43)
    for (const hop of hops.filter(({ url }) => url.startsWith(`${world.url}/sign-in`))) {
      expect(hop.headers.get('cache-control')).toBe('no-store')
      expect(hop.headers.get('referrer-policy')).toBe('no-referrer')
    }
  })

  it('gives cookies that only this host gets back, over TLS, and that no script reads', async () => {
    const { hops } = await signIn()
    const cookies = hops.flatMap(hop => (hop.url.startsWith(world.url) ? hop.cookies : []))
    expect(cookies).toHaveLength(3)
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^__Host-espalier-(sign-in|session)=/)
      for (const part of ['Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/'])
        expect(cookie.split('; ')).toContain(part)
      expect(cookie).not.toMatch(/domain=/i)
    }
  })

  it('finds the same user again by issuer and subject, whatever their e-mail is by then', async () => {
    const first = await signIn()
    provider.be({ ...ADA, email: 'ada@elsewhere.example' })
    vi.stubEnv('ESPALIER_OIDC_ALLOW', 'groups=operators')
    const second = await signIn()
    expect(second.last?.data.user_id).toBe(first.last?.data.user_id)
    // Someone else who has the address now is someone else.
    provider.be({ ...ADA, sub: 'another' })
    const third = await signIn()
    expect(third.last?.status).toBe(200)
    expect(third.last?.data.user_id).not.toBe(first.last?.data.user_id)
  })

  it('refuses everyone where nothing is allowed and nobody is invited', async () => {
    vi.stubEnv('ESPALIER_OIDC_ALLOW', '')
    provider.be({ ...ADA, sub: 'a stranger' })
    const { browser, callback } = await upToCallback()
    const answer = await refusal(browser, callback)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('You aren’t invited.')
  })

  it('lets those whose claims were allowed in only as long as they are', async () => {
    const account = { ...ADA, sub: 'leaves the company' }
    provider.be(account)
    expect((await signIn()).last?.status).toBe(200)
    provider.be({ ...account, email: 'someone@elsewhere.example' })
    expect((await signIn()).last?.status).toBe(403)
  })

  it('refuses users who are disabled, and their sessions', async () => {
    provider.be({ ...ADA, sub: 'to be disabled' })
    const { browser, last } = await signIn()
    const user = await getUser(String(last?.data.user_id) as `user_${string}`)
    await replaceUser(user, { ...user, disabledAt: new Date().toISOString() })
    expect((await browser.ask(world.url + WHERE)).status).toBe(401)
    const again = await upToCallback()
    const answer = await refusal(again.browser, again.callback)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('disabled')
  })

  it('makes one user of someone who comes in twice at once for the first time', async () => {
    provider.be({ ...ADA, sub: 'in a hurry' })
    const visits = await Promise.all(Array.from({ length: 4 }, () => upToCallback()))
    const ends = await Promise.all(visits.map(({ browser, callback }) => browser.follow(callback)))
    expect(ends.map(({ last }) => last?.status)).toEqual([200, 200, 200, 200])
    const users = new Set(ends.map(({ last }) => String(last?.data.user_id)))
    expect(users.size).toBe(1)
    const { items } = await listAudit('instance', { limit: 20 })
    const admitted = items.filter(({ target }) => users.has(target))
    expect(admitted.map(({ action }) => action)).toEqual(['user-admitted'])
  })

  it('never leads to another site afterwards', async () => {
    for (const elsewhere of [
      'https://elsewhere.example/',
      '//elsewhere.example',
      '/\\elsewhere.example',
      '/%09/elsewhere.example',
      'javascript:alert(1)',
      '/\t/elsewhere.example',
      ' /docs',
      `/${'a'.repeat(1_000)}`,
    ]) {
      const { hops } = await signIn(createBrowser(), `return_to=${encodeURIComponent(elsewhere)}`)
      const last = hops.findLast(({ url }) => isCallback(url))
      expect(new URL(last?.location ?? '').origin).toBe(world.url)
    }
  })

  it('says in words that there is no provider', async () => {
    vi.stubEnv('ESPALIER_OIDC_ISSUER', '')
    const answer = await refusal(createBrowser(), start())
    expect(answer.status).toBe(404)
  })

  it('says so where the provider doesn’t answer, and asks it again the next time', async () => {
    vi.stubEnv('ESPALIER_OIDC_ISSUER', 'http://127.0.0.1:9')
    const answer = await refusal(createBrowser(), start())
    expect(answer.status).toBe(502)
    expect(answer.text).toContain('ESPALIER_OIDC_ISSUER')
    vi.stubEnv('ESPALIER_OIDC_ISSUER', provider.issuer)
    expect((await signIn()).last?.status).toBe(200)
  })

  it('asks no provider over a wire that others may listen on', async () => {
    vi.stubEnv('ESPALIER_OIDC_ISSUER', 'http://elsewhere.example')
    const answer = await createBrowser().ask(start())
    expect(answer.status).toBe(500)
    expect(JSON.parse(answer.text).error).toMatchObject({
      code: 'NOT_CONFIGURED',
      message: expect.stringContaining('https'),
    })
  })
})

describe('a callback', () => {
  it('counts once: what it made is not made again, by the same browser or another', async () => {
    const { browser, callback } = await upToCallback()
    const begun = browser.jarOf(world.url).get(BEGUN) ?? ''
    expect((await browser.ask(callback)).status).toBe(302)
    expect(browser.jarOf(world.url).has(BEGUN)).toBe(false)
    browser.jarOf(world.url).delete(SESSION_COOKIE)
    expect((await refusal(browser, callback)).status).toBe(403)
    // Even with the cookie, which someone may have kept.
    browser.jarOf(world.url).set(BEGUN, begun)
    const answer = await refusal(browser, callback)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('Sign in again.')
  })

  it('makes one session of one sign-in, even of two codes', async () => {
    const browser = createBrowser()
    const first = await browser.ask(start())
    const begun = browser.jarOf(world.url).get(BEGUN) ?? ''
    const { next: one = '' } = await browser.follow(first.location ?? '', isCallback)
    const { next: two = '' } = await browser.follow(first.location ?? '', isCallback)
    expect(new URL(one).searchParams.get('code')).not.toBe(new URL(two).searchParams.get('code'))
    expect((await browser.ask(one)).status).toBe(302)
    browser.jarOf(world.url).delete(SESSION_COOKIE)
    browser.jarOf(world.url).set(BEGUN, begun)
    const answer = await refusal(browser, two)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('used already')
  })

  it('of someone else’s sign-in signs nobody in', async () => {
    const attacker = await upToCallback()
    // A victim who has begun nothing, and one who is in the middle of their own.
    expect((await refusal(createBrowser(), attacker.callback)).status).toBe(403)
    const victim = createBrowser()
    await victim.ask(start())
    const answer = await refusal(victim, attacker.callback)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('didn’t begin this sign-in')
  })

  it('with another code, state or issuer than the provider gave is refused', async () => {
    const other = new URL((await upToCallback()).callback).searchParams
    for (const change of [
      (query: URLSearchParams) => query.set('state', 'made up'),
      (query: URLSearchParams) => query.delete('state'),
      (query: URLSearchParams) => query.append('state', query.get('state') ?? ''),
      (query: URLSearchParams) => query.set('code', 'made-up'),
      // A code that was stolen belongs to another verifier.
      (query: URLSearchParams) => query.set('code', other.get('code') ?? ''),
      (query: URLSearchParams) => query.set('iss', 'https://elsewhere.example'),
      (query: URLSearchParams) => query.delete('code'),
    ]) {
      const { browser, callback } = await upToCallback()
      const url = new URL(callback)
      change(url.searchParams)
      const answer = await refusal(browser, url.href)
      expect([403, 502]).toContain(answer.status)
      for (const secret of ['code', 'state'])
        expect(answer.text).not.toContain(new URL(callback).searchParams.get(secret))
    }
  })

  it('with a cookie that was changed, made up or made with other keys is refused', async () => {
    for (const change of [
      (sealed: string) => `${sealed.slice(0, -4)}AAAA`,
      (sealed: string) => sealed.replace('v1.', 'v9.'),
      () => 'v1.AAAA',
      () => '%%%',
      () => '',
    ]) {
      const { browser, callback } = await upToCallback()
      const jar = browser.jarOf(world.url)
      jar.set(BEGUN, change(jar.get(BEGUN) ?? ''))
      expect((await refusal(browser, callback)).status).toBe(403)
    }
  })

  it('that comes too late is refused', async () => {
    const { browser, callback } = await upToCallback()
    const sealed = browser.jarOf(world.url).get(BEGUN)
    const asked = { query: new URL(callback).search.slice(1), sealed, userAgent: '' }
    const at = (milliseconds: number) => ({
      now: () => new Date(Date.now() + SIGN_IN_MINUTES * 60_000 + milliseconds),
    })
    await expect(endSignIn(asked, at(0))).rejects.toMatchObject({
      code: 'SIGN_IN_REFUSED',
      message: expect.stringContaining(`${SIGN_IN_MINUTES} minutes`),
    })
    const fresh = seal('{}')
    await expect(endSignIn({ ...asked, sealed: fresh })).rejects.toThrow()
    await expect(endSignIn(asked, at(-10_000))).resolves.toMatchObject({ returnTo: WHERE })
  })

  it('with which the provider says no tells its code, and none of its words', async () => {
    provider.be(undefined)
    const { browser, callback } = await upToCallback()
    const answer = await refusal(browser, callback)
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('access_denied')
    expect(answer.text).not.toContain('nobody should show')
    const forged = await upToCallback()
    const url = new URL(forged.callback)
    url.searchParams.set('error', '<script>alert(1)</script>')
    expect((await refusal(forged.browser, url.href)).text).not.toContain('script')
  })
})

describe('what signing in hides', () => {
  it('is in no row and no log: codes, states, tokens, verifiers, cookies, secrets', async () => {
    const seen: string[] = []
    const { fetch: real } = globalThis
    // What the provider and we say to each other, behind the browser's back.
    const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, options) => {
      const response = await real(input, options)
      if (!String(input).startsWith(provider.issuer)) return response
      const text = await response.clone().text()
      if (options?.body) seen.push(...new URLSearchParams(String(options.body)).values())
      if (text.includes('access_token')) {
        const { access_token, id_token } = JSON.parse(text)
        seen.push(access_token, id_token)
      }
      return response
    })
    const { browser, callback, asked } = await upToCallback()
    const query = new URL(callback).searchParams
    const begun = browser.jarOf(world.url).get(BEGUN) ?? ''
    await browser.ask(callback)
    // A replay fails, and what fails is logged with more.
    browser.jarOf(world.url).set(BEGUN, begun)
    const replay = await browser.ask(callback)
    spy.mockRestore()
    const session = browser.jarOf(world.url).get(SESSION_COOKIE) ?? ''
    const secrets = [
      ...seen.filter(value => value.length >= 20 && !value.startsWith('http')),
      query.get('code') ?? '',
      query.get('state') ?? '',
      asked.get('nonce') ?? '',
      begun,
      session,
      session.split('_').slice(3).join('_'),
      provider.clientSecret,
    ]
    expect(secrets.length).toBeGreaterThanOrEqual(11)
    expect(secrets.every(secret => secret.length >= 20)).toBe(true)
    const everything = JSON.stringify([await snapshot(), world.logs]) + replay.text
    for (const secret of secrets) expect(everything.includes(secret), secret).toBe(false)
  })
})
