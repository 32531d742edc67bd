import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REDIRECT_SECONDS } from '../../../lib/data/presigned.ts'
import {
  AUTHORED_TYPES,
  MAX_AUTHORED_BYTES,
  MAX_FILENAME_CHARS,
} from '../../../lib/media/limits.ts'
import { dataOf, type Person, startWorld, type World } from '../../world.ts'

let world: World
let owner: Person
let agent: string

beforeAll(async () => {
  world = await startWorld()
  owner = await world.createPerson(['decide'])
  agent = await world.createAgent(['media'], { key: owner.key })
  await world.override(agent, 'media.get_public_url', { requires_approval: false })
})
afterAll(() => world.stop())

type Made = { media_id: string; filename: string; bytes: number }

const tryToMake = async (body: object, as = agent) => {
  const answer = await world.run(as, 'media.create_media', { filename: 'a', content: 'A', ...body })
  return answer.body.data as { content: string; is_error: boolean; media: string[] }
}
const make = async (body: object = {}, as = agent): Promise<Made> => {
  const { content, is_error } = await tryToMake(body, as)
  if (is_error) throw new Error(content)
  return JSON.parse(content)
}
const linkOf = async (id: string): Promise<string> =>
  dataOf<{ public_url: string }>({
    ...(await world.request('POST', `/api/v1/media/${id}/public-link`, { key: owner.key })),
    status: 200,
  }).public_url
const revoke = (id: string) =>
  world.request('DELETE', `/api/v1/media/${id}/public-link`, { key: owner.key })
const open = (url: string) => fetch(url, { redirect: 'manual' })

describe('a public link', () => {
  it('opens without a key, by a redirect that is soon over and told to nobody', async () => {
    const { media_id } = await make({ content: '# Grüße' })
    const answer = await open(await linkOf(media_id))
    expect(answer.status).toBe(302)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    const target = new URL(answer.headers.get('location') ?? '')
    expect(Number(target.searchParams.get('X-Amz-Expires'))).toBe(REDIRECT_SECONDS)
    const file = await fetch(target)
    expect(await file.text()).toBe('# Grüße')
    expect(file.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(file.headers.get('cache-control')).toBe('no-store')
  })

  it('is the same until it is revoked, and another one after', async () => {
    const { media_id } = await make()
    const first = await linkOf(media_id)
    expect(await linkOf(media_id)).toBe(first)
    await revoke(media_id)
    expect((await open(first)).status).toBe(404)
    const second = await linkOf(media_id)
    expect(second).not.toBe(first)
    expect((await open(second)).status).toBe(302)
    expect((await open(first)).status).toBe(404)
  })

  it('does not open before anyone made it, though its text can be known', async () => {
    const { media_id } = await make()
    const link = await linkOf(media_id)
    await revoke(media_id)
    await linkOf(media_id)
    await revoke(media_id)
    expect((await open(link)).status).toBe(404)
  })

  it('opens nothing else, and nothing with any change in it', async () => {
    const [one, other] = [await make(), await make()]
    const [link, otherLink] = [await linkOf(one.media_id), await linkOf(other.media_id)]
    const token = new URL(link).searchParams.get('token') ?? ''
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    const swapped = new URL(otherLink)
    swapped.searchParams.set('token', token)
    const wrong = [
      swapped.href,
      link.slice(0, -1),
      `${link}A`,
      link.replace(/token=.*/, ''),
      link.replace(/token=.*/, 'token='),
      link.replace(token, token.toLowerCase()),
      link.replace(token, 'ü'.repeat(43)),
      link.replace(one.media_id, 'media_1'),
    ]
    for (const url of wrong) {
      const answer = await open(url)
      expect(answer.status, url).toBe(404)
      expect(await answer.json()).toMatchObject({ error: { code: 'NOT_FOUND' } })
    }
  })

  it.each(Object.keys(AUTHORED_TYPES))('of %s runs nothing in a browser', async mime_type => {
    const { media_id } = await make({ mime_type, content: '<script>alert(1)</script>' })
    const file = await fetch(await linkOf(media_id))
    const kind = /html|xml/.test(mime_type) ? 'attachment' : 'inline'
    expect(file.headers.get('content-disposition')).toMatch(new RegExp(`^${kind}; `))
    expect(file.headers.get('content-type')).toContain(mime_type)
  })

  it('that a tool makes is the one that its owner makes', async () => {
    const { media_id } = await make()
    const answer = await world.run(agent, 'media.get_public_url', { media_id })
    const { content } = answer.body.data as { content: string }
    expect(JSON.parse(content).public_url).toBe(await linkOf(media_id))
  })
})

describe('a document that an agent stores', () => {
  it.each([
    ['../../etc/passwd', 'passwd.md'],
    ['C:\\temp\\x.exe', 'x.md'],
    ['a"b\r\nX: y.md', 'a"bX: y.md'],
    ['   ', 'document.md'],
    ['.md', 'document.md'],
    ['naïve (1)*.txt', 'naïve (1)*.md'],
    ['x'.repeat(MAX_FILENAME_CHARS), `${'x'.repeat(MAX_FILENAME_CHARS - 3)}.md`],
    [`${'x'.repeat(MAX_FILENAME_CHARS - 4)}😀`, `${'x'.repeat(MAX_FILENAME_CHARS - 4)}.md`],
    ['half \ud83d', 'half \ufffd.md'],
  ])('as %j is named %j, and can be opened', async (filename, named) => {
    const made = await make({ filename })
    expect(made.filename).toBe(named)
    const file = await fetch(await linkOf(made.media_id))
    expect(file.status).toBe(200)
    const disposition = file.headers.get('content-disposition') ?? ''
    expect(disposition).toMatch(/^inline; filename\*=UTF-8''[\w!#$&+.^`|~%-]+$/)
    expect(decodeURIComponent(disposition.split("''")[1] ?? '')).toBe(named)
  })

  it('has a size, in bytes', async () => {
    const most = 'ü'.repeat(MAX_AUTHORED_BYTES / 2)
    expect((await make({ content: most })).bytes).toBe(MAX_AUTHORED_BYTES)
    const refused = await tryToMake({ content: `${most}x` })
    expect(refused).toMatchObject({ is_error: true })
    expect(refused.content).toContain(`${MAX_AUTHORED_BYTES + 1} bytes`)
  })

  it('is seen by agents of its owner as their settings say, and by no others', async () => {
    const { media_id } = await make()
    const sibling = await world.createAgent(['media'], { key: owner.key })
    const stranger = await world.createAgent(['media'])
    const look = async (as: string) =>
      (await world.run(as, 'media.get_source', { media_id })).body.data as object
    expect(await look(agent)).toMatchObject({ content: 'A' })
    expect(await look(sibling)).toMatchObject({ content: 'A' })
    expect(await look(stranger)).toMatchObject({ is_error: true })
    await world.setSettings(sibling, 'media', { scope: 'agent' })
    expect(await look(sibling)).toMatchObject({ is_error: true })
    const listed = await world.run(sibling, 'media.search', {})
    expect((listed.body.data as { content: string }).content).toBe('[]')
  })
})
