import { createHash } from 'node:crypto'
import {
  CreateBucketCommand,
  DeleteObjectsCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCatalog } from '../../../../lib/local/s3/catalog.ts'
import { MAX_DELETE_KEYS } from '../../../../lib/local/s3/delete-objects.ts'
import { listObjects, MAX_LIST_ENTRIES } from '../../../../lib/local/s3/list.ts'
import { createSigner } from '../../../../lib/local/s3/signature.ts'
import { childrenOf, parseXml, textOf } from '../../../../lib/local/s3/xml.ts'
import { BUCKET, CREDENTIALS, REGION, refusalOf, s3, useTestS3 } from './harness.ts'

useTestS3()

const put = (Key: string, bucket = BUCKET) =>
  s3.client().send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'x' }))
const list = (options: Partial<ListObjectsV2CommandInput> = {}) =>
  s3.client().send(new ListObjectsV2Command({ Bucket: BUCKET, ...options }))

/** The operation on a catalog alone, so that a property can try thousands of buckets. */
const listOf = async (keys: Iterable<string>, parameters: Record<string, string>) => {
  const summary = { size: 1, etag: 'e', lastModifiedAt: '2025-01-01T00:00:00.000Z' }
  const catalog = createCatalog([...keys].map(key => [key, summary]))
  const bucket = { name: 'b', directory: '', createdAt: '2025-01-01T00:00:00.000Z', catalog }
  const query = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url', ...parameters })
  const { body } = await listObjects({
    request: {
      method: 'GET',
      path: '/b',
      bucket: 'b',
      key: '',
      query,
      headers: new Map(),
      read: async function* () {},
    },
    payload: { kind: 'unsigned' },
    store: { drafts: '', directory: '', buckets: new Map([['b', bucket]]) },
    signer: createSigner(CREDENTIALS, REGION),
    now: new Date(),
  })
  const page = parseXml(String(body))
  const decoded = (name: string, inner: string) =>
    childrenOf(page, name).map(child => decodeURIComponent(textOf(child, inner) ?? ''))
  return {
    keys: decoded('Contents', 'Key'),
    prefixes: decoded('CommonPrefixes', 'Prefix'),
    count: Number(textOf(page, 'KeyCount')),
    token: textOf(page, 'NextContinuationToken'),
    isTruncated: textOf(page, 'IsTruncated') === 'true',
  }
}

const byUtf8 = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Few letters, so that prefixes are shared; some whose order in UTF-16 is not that in UTF-8. */
const letters = fc.constantFrom('a', 'b', '/', '//', '-', '\u00e9', '\uffee', '😀', '\t')
const someKey = fc.array(letters, { minLength: 1, maxLength: 6 }).map(parts => parts.join(''))

describe('pages of a list', () => {
  test('hold together what one list would hold, in UTF-8 order, for any page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(someKey, { maxLength: 40 }),
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom('', '/', '//', 'a', 'é'),
        fc.constantFrom('', 'a', 'a/', '/', 'b😀'),
        fc.option(someKey, { nil: '' }),
        async (keys, size, delimiter, prefix, startAfter) => {
          const wanted = keys
            .filter(key => key.startsWith(prefix) && byUtf8(key, startAfter) > 0)
            .sort(byUtf8)
          const rest = (key: string) => key.slice(prefix.length)
          const isGrouped = (key: string) => delimiter !== '' && rest(key).includes(delimiter)
          const groupOf = (key: string) =>
            prefix + rest(key).slice(0, rest(key).indexOf(delimiter)) + delimiter

          const found = { keys: [] as string[], prefixes: [] as string[] }
          let token: string | undefined
          do {
            const page = await listOf(keys, {
              prefix,
              delimiter,
              'start-after': startAfter,
              'max-keys': String(size),
              ...(token === undefined ? {} : { 'continuation-token': token }),
            })
            expect(page.count).toBe(page.keys.length + page.prefixes.length)
            expect(page.count).toBeLessThanOrEqual(size)
            expect(page.isTruncated).toBe(page.token !== undefined)
            if (page.isTruncated) expect(page.count).toBe(size)
            found.keys.push(...page.keys)
            found.prefixes.push(...page.prefixes)
            token = page.token
          } while (token !== undefined)

          expect(found.keys).toEqual(wanted.filter(key => !isGrouped(key)))
          expect(found.prefixes).toEqual([...new Set(wanted.filter(isGrouped).map(groupOf))])
        },
      ),
      { numRuns: 400 },
    )
  })

  test('stay right while keys come and go', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), someKey), { maxLength: 60 }), changes => {
        const catalog = createCatalog([])
        const model = new Set<string>()
        for (const [isSet, key] of changes) {
          if (isSet) catalog.set(key, { size: 1, etag: 'e', lastModifiedAt: '' })
          if (isSet) model.add(key)
          if (!isSet) catalog.delete(key)
          if (!isSet) model.delete(key)
        }
        expect(catalog.keys).toEqual([...model].sort(byUtf8))
      }),
    )
  })

  test('have a thousand entries at most, and may have none', async () => {
    const keys = Array.from({ length: MAX_LIST_ENTRIES + 1 }, (_, index) => `k${index}`)
    const all = await listOf(keys, { 'max-keys': '5000' })
    expect([all.count, all.isTruncated]).toEqual([MAX_LIST_ENTRIES, true])
    const exact = await listOf(keys.slice(1), {})
    expect([exact.count, exact.isTruncated]).toEqual([MAX_LIST_ENTRIES, false])
    const none = await listOf(keys, { 'max-keys': '0' })
    expect([none.count, none.isTruncated]).toEqual([0, false])
  })
})

describe('a list', () => {
  test('over the wire has folders, sizes and tokens', async () => {
    for (const key of ['l/1/f', 'l/2/f', 'l/top', 'm']) await put(key)
    const folders = await list({ Prefix: 'l/', Delimiter: '/' })
    expect(folders.CommonPrefixes?.map(each => each.Prefix)).toEqual(['l/1/', 'l/2/'])
    expect(folders.Contents?.map(each => [each.Key, each.Size])).toEqual([['l/top', 1]])
    const first = await list({ MaxKeys: 2 })
    const second = await list({ ContinuationToken: first.NextContinuationToken ?? '' })
    const keys = [...(first.Contents ?? []), ...(second.Contents ?? [])].map(each => each.Key)
    expect(keys).toEqual(['l/1/f', 'l/2/f', 'l/top', 'm'])
    expect((await list({ StartAfter: 'l/2/f' })).KeyCount).toBe(2)
  })

  test('refuses a token that is not its own, and limits that are no numbers', async () => {
    expect(await refusalOf(list({ ContinuationToken: 'nonsense' }))).toBe('InvalidArgument 400')
    const path = `/${BUCKET}?list-type=2&max-keys=-1`
    expect(await s3.sendSigned({ method: 'GET', path })).toMatchObject({ code: 'InvalidArgument' })
  })

  test('carries keys that XML could spoil', async () => {
    await s3.client().send(new CreateBucketCommand({ Bucket: 'odd-keys' }))
    const keys = ['\u0001', ' lead', 'a\rb', 'a\r\nb', 'a&amp;b<c>"', 'tail ', '\uffff', '😀\u2028']
    for (const key of keys) await put(key, 'odd-keys')
    const found = await list({ Bucket: 'odd-keys' })
    expect(found.Contents?.map(each => each.Key)).toEqual([...keys].sort(byUtf8))
    const remove = { Objects: keys.map(Key => ({ Key })) }
    await s3.client().send(new DeleteObjectsCommand({ Bucket: 'odd-keys', Delete: remove }))
    expect((await list({ Bucket: 'odd-keys' })).KeyCount).toBe(0)
  })
})

describe('a batch of deletions', () => {
  const remove = (Objects: { Key: string; ETag?: string }[], Quiet = false) =>
    s3.client().send(new DeleteObjectsCommand({ Bucket: BUCKET, Delete: { Objects, Quiet } }))

  test('says what became of each key', async () => {
    await put('d/1')
    await put('d/2')
    const mixed = [{ Key: 'd/1' }, { Key: 'd/2', ETag: '"other"' }, { Key: 'd/none' }]
    const result = await remove(mixed)
    expect(result.Deleted?.map(each => each.Key)).toEqual(['d/1', 'd/none'])
    expect(result.Errors?.map(each => [each.Key, each.Code])).toEqual([
      ['d/2', 'PreconditionFailed'],
    ])
    expect((await remove([{ Key: 'd/2' }], true)).Deleted ?? []).toEqual([])
    expect((await list({ Prefix: 'd/' })).KeyCount).toBe(0)
  })

  test('has a thousand keys at most, and a checksum', async () => {
    const keys = Array.from({ length: MAX_DELETE_KEYS + 1 }, (_, index) => ({
      Key: `none/${index}`,
    }))
    expect(await refusalOf(remove(keys))).toBe('MalformedXML 400')
    expect((await remove(keys.slice(1))).Deleted).toHaveLength(MAX_DELETE_KEYS)
    const body = '<Delete><Object><Key>a</Key></Object></Delete>'
    expect(await s3.sendSigned({ method: 'POST', path: `/${BUCKET}?delete`, body })).toMatchObject({
      status: 400,
      code: 'InvalidRequest',
    })
  })

  test('is refused where its document is not well-formed or declares a type', async () => {
    for (const body of [
      '<Delete><Object><Key>a</Object></Key></Delete>',
      '<Delete>',
      '<!DOCTYPE Delete [<!ENTITY e "a">]><Delete><Object><Key>&e;</Key></Object></Delete>',
      '<Delete><Object><Key>&e;</Key></Object></Delete>',
      '',
    ]) {
      const headers = { 'content-md5': createHash('md5').update(body).digest('base64') }
      expect(
        await s3.sendSigned({ method: 'POST', path: `/${BUCKET}?delete`, headers, body }),
      ).toMatchObject({ status: 400, code: 'MalformedXML' })
    }
  })
})
