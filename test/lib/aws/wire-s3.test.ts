import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import * as s3 from '../../../lib/aws/s3.ts'
import { sameRequest } from './both.ts'
import { type Place, sdk } from './sdk.ts'
import { canonicalPath, problemsOfPresigned, queryOf } from './signature.ts'
import { objectKey } from './values.ts'
import { environmentAt, REGION, SECRET, SESSION_TOKEN, startWire, type Wire } from './wire.ts'

let wire: Wire
let theirs: ReturnType<typeof sdk>

beforeAll(async () => {
  wire = await startWire()
})
afterAll(() => wire.close())
beforeEach(() => {
  for (const [name, value] of Object.entries(environmentAt(wire.url))) vi.stubEnv(name, value)
  theirs = sdk()
})
afterEach(() => vi.unstubAllEnvs())

const Bucket = 'app-bucket'
const runs = { numRuns: 80 }
const token = fc.option(fc.constant(SESSION_TOKEN), { nil: undefined })

const same = (ours: () => Promise<unknown>, of: () => Promise<unknown>) =>
  sameRequest(wire, 's3', { ours, theirs: of })

const withToken = (value: string | undefined) => {
  vi.stubEnv('AWS_SESSION_TOKEN', value)
  theirs = sdk()
}

test('an object of any key is put, looked at and read as by the SDK', () =>
  fc.assert(
    fc.asyncProperty(
      objectKey,
      fc.oneof(
        fc.uint8Array({ maxLength: 64 }),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
      ),
      token,
      async (Key, Body, sessionToken) => {
        withToken(sessionToken)
        const place: Place = { Bucket, Key }
        const written = { ...place, Body, ContentType: 'text/plain; charset=utf-8' }
        const sent = [
          await same(
            () => s3.putObject(written),
            () => theirs.putObject(written),
          ),
          await same(
            () => s3.headObject(place),
            () => theirs.headObject(place),
          ),
          await same(
            () => s3.getObject(place),
            () => theirs.getObject(place),
          ),
        ]
        for (const { target, headers } of sent) {
          expect(decodeURIComponent(target.split('?')[0] ?? '')).toBe(`/${Bucket}/${Key}`)
          expect(headers['x-amz-security-token']).toBe(sessionToken)
        }
      },
    ),
    runs,
  ))

test('objects of any keys are removed as by the SDK, with a checksum of what is sent', async () => {
  wire.react({ body: '<?xml version="1.0"?><DeleteResult></DeleteResult>' })
  await fc.assert(
    fc.asyncProperty(fc.array(objectKey, { minLength: 1, maxLength: 5 }), async Keys => {
      const request = await same(
        () => s3.deleteObjects({ Bucket, Keys }),
        () => theirs.deleteObjects({ Bucket, Keys }),
      )
      const checksum = createHash('sha256').update(request.body).digest('base64')
      expect(request.headers['x-amz-checksum-sha256']).toBe(checksum)
    }),
    runs,
  )
})

test('objects are listed by any prefix as by the SDK', async () => {
  wire.react({ body: '<?xml version="1.0"?><ListBucketResult></ListBucketResult>' })
  await fc.assert(
    fc.asyncProperty(objectKey, fc.integer({ min: 1, max: 1_000 }), async (Prefix, MaxKeys) => {
      const input = { Bucket, Prefix, MaxKeys }
      await same(
        () => s3.listObjects(input),
        () => theirs.listObjects(input),
      )
    }),
    runs,
  )
})

test('a link to any object is the one that the SDK makes, and its signature holds', () =>
  fc.assert(
    fc.asyncProperty(objectKey, objectKey, token, async (Key, name, sessionToken) => {
      withToken(sessionToken)
      const disposition = `inline; filename*=UTF-8''${encodeURIComponent(name)}`
      const says = { type: 'text/plain; charset=utf-8', disposition, cache: 'no-store' }
      const query = {
        'response-cache-control': says.cache,
        'response-content-disposition': says.disposition,
        'response-content-type': says.type,
      }
      const own = await s3.presignedGet({ Bucket, Key }, { query, expiresIn: 60 })
      const other = await theirs.presignedGet({ Bucket, Key }, says, 60)
      expect(asS3Reads(own)).toEqual(asS3Reads(other))
      for (const url of [own, other]) expect(problems(url)).toEqual([])
      expect(own).not.toContain(SECRET)
    }),
    runs,
  ))

/** A link without what is a matter of the second in which it was made, or of the SDK alone. */
const asS3Reads = (url: string) => {
  const { origin } = new URL(url)
  const target = url.slice(origin.length)
  const NOT_OF_THE_LINK = /^(?:x-id|x-amz-checksum-mode|X-Amz-Date|X-Amz-Signature)$/
  const query = queryOf({ method: 'GET', target, headers: {}, body: Buffer.alloc(0) })
  return {
    origin,
    path: canonicalPath(target, 's3'),
    query: query.filter(([name]) => !NOT_OF_THE_LINK.test(name)).sort(),
  }
}

const problems = (url: string): string[] =>
  problemsOfPresigned(url, { service: 's3', region: REGION, secret: SECRET })
