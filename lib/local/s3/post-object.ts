import { checkCredential, mismatch } from './authentication.ts'
import { MAX_PUT_BYTES, openBody } from './body.ts'
import { S3Error } from './errors.ts'
import type { Exchange, Handler } from './exchange.ts'
import { type Form, withForm } from './form.ts'
import { factsOf, storeBody } from './object.ts'
import type { ObjectInfo } from './object-file.ts'
import { describe } from './object-headers.ts'
import { checkPolicy, type LengthRange } from './post-policy.ts'
import { checkKey, type Reply } from './request.ts'
import { ALGORITHM, parseSigningDate, sameSignature } from './signature.ts'
import { bucketOf, placeObject } from './store.ts'
import { renderXml } from './xml.ts'

/**
 * An upload by a browser's form. Its fields carry the signature and what a put has in headers;
 * both are checked before the file's first byte is read.
 */
export const postObject: Handler = exchange => {
  const { request } = exchange
  const source = { contentType: request.headers.get('content-type'), chunks: request.read() }
  return withForm(source, form => storeForm(exchange, form))
}

const storeForm = async (exchange: Exchange, form: Form): Promise<Reply> => {
  const { request, store, now } = exchange
  const fields = await authenticateForm(exchange, form)
  const range = checkPolicy(fields.get('policy') ?? '', {
    fields: new Map([...fields, ['bucket', request.bucket]]),
    maximum: MAX_PUT_BYTES,
    now,
  })
  const key = checkKey(fields.get('key') ?? '')
  if (key === '') throw new S3Error('InvalidArgument', 'The form must have a field "key".')
  const bucket = bucketOf(store, request.bucket)
  const description = describe(fields)
  const headers = new Map([...fields, ['content-length', '0']])
  const body = {
    ...openBody({ ...request, headers }, { kind: 'unsigned' }),
    chunks: within(form.file, range),
  }
  const info = await storeBody(exchange, body, async draft => {
    const info: ObjectInfo = {
      key,
      lastModifiedAt: now.toISOString(),
      ...description,
      ...factsOf(draft, body),
    }
    await draft.seal(info)
    placeObject(store, bucket, { draft, info, condition: () => {} })
    return info
  })
  return success(fields, { bucket: request.bucket, key, etag: `"${info.etag}"` })
}

/** Throws unless the policy bears our signature; returns the fields with `${filename}` filled. */
const authenticateForm = async ({ signer }: Exchange, form: Form): Promise<Map<string, string>> => {
  const field = (name: string): string => form.fields.get(name) ?? ''
  const [policy, signature] = [field('policy'), field('x-amz-signature')]
  if (!policy || !signature) throw new S3Error('AccessDenied', 'Access Denied')
  const date = parseSigningDate(field('x-amz-date'))
  if (field('x-amz-algorithm') !== ALGORITHM || !date) {
    throw new S3Error('InvalidArgument', `x-amz-algorithm must be ${ALGORITHM}, x-amz-date a time.`)
  }
  checkCredential(field('x-amz-credential'), date, signer, 'AuthorizationQueryParametersError')
  if (!sameSignature(await signer.sign(policy, date), signature)) throw mismatch()
  return new Map(
    [...form.fields].map(([name, value]) => [
      name,
      name === 'policy' ? value : value.replace(/\$\{filename\}/g, () => form.fileName),
    ]),
  )
}

/** Passes a file on, or throws EntityTooLarge as soon as it is, EntityTooSmall at its end. */
async function* within(
  source: AsyncIterable<Buffer>,
  { minimum, maximum }: LengthRange,
): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of source) {
    size += chunk.length
    if (size > maximum) {
      throw new S3Error('EntityTooLarge', `Your proposed upload exceeds ${maximum} bytes.`)
    }
    yield chunk
  }
  if (size >= minimum) return
  throw new S3Error('EntityTooSmall', `Your proposed upload is less than ${minimum} bytes.`)
}

/** What the form asks to be answered with: a redirect, a document, or nothing. */
const success = (
  fields: ReadonlyMap<string, string>,
  stored: { bucket: string; key: string; etag: string },
): Reply => {
  const location = `/${stored.bucket}/${encodeURIComponent(stored.key)}`
  const headers = { etag: stored.etag, location }
  const redirect = fields.get('success_action_redirect')
  if (redirect && URL.canParse(redirect)) {
    const target = new URL(redirect)
    for (const [name, value] of Object.entries(stored)) target.searchParams.set(name, value)
    return { status: 303, headers: { ...headers, location: target.href } }
  }
  const status = fields.get('success_action_status')
  if (status === '200') return { status: 200, headers }
  if (status !== '201') return { status: 204, headers }
  return {
    status: 201,
    headers,
    body: renderXml('PostResponse', [
      ['Location', location],
      ['Bucket', stored.bucket],
      ['Key', stored.key],
      ['ETag', stored.etag],
    ]),
  }
}
