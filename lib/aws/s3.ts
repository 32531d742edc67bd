import { createHash } from 'node:crypto'
import { type Client, createClient, requestTo, sender } from './client.ts'
import { endpoint } from './endpoint.ts'
import { encode, type HttpRequest, type HttpResponse, queryString } from './http.ts'
import { elements, errorOf, escapeXml, isErrorDocument, textOf, unescapeXml } from './s3-xml.ts'
import { presign } from './sign.ts'

/** Nothing of a body for so long, in either direction. */
const SILENCE_MS = 20_000

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/'

let client: Client | undefined

/** The S3 client; region, endpoint and credentials come from the environment. */
export const s3 = (): Client => {
  client ??= createClient({
    name: 's3',
    endpoint: () => endpoint('s3', 'S3'),
    attempts: 3,
    silenceMs: SILENCE_MS,
  })
  return client
}

type Place = { Bucket: string; Key: string }

/** A command about the bucket, or about an object of it. */
export const s3Command = <Input extends { Bucket: string; Key?: string }, Output extends object>(
  { name, action }: { name: string; action: string },
  method: string,
  {
    request = () => ({}),
    response = () => ({}) as Output,
    isError = isErrorDocument,
  }: {
    request?: (input: Input) => Partial<HttpRequest>
    response?: (response: HttpResponse) => Output
    isError?: (response: HttpResponse) => boolean
  } = {},
) =>
  sender<Input, Output>(s3, {
    name,
    action,
    request: (input, url) => ({ method, body: '', ...addressOf(input, url), ...request(input) }),
    response,
    isError,
    error: errorOf,
  })

export const putObject = /* @__PURE__ */ s3Command<
  Place & { Body: Uint8Array | string; ContentType: string },
  object
>({ name: 'PutObject', action: 's3:PutObject' }, 'PUT', {
  request: ({ Body, ContentType }) => ({ body: Body, headers: { 'content-type': ContentType } }),
})

export const headObject = /* @__PURE__ */ s3Command<Place, { ContentType?: string }>(
  { name: 'HeadObject', action: 's3:GetObject' },
  'HEAD',
  {
    response: ({ headers }) =>
      headers['content-type'] === undefined ? {} : { ContentType: headers['content-type'] },
  },
)

export const getObject = /* @__PURE__ */ s3Command<Place, { Body: Uint8Array }>(
  { name: 'GetObject', action: 's3:GetObject' },
  'GET',
  // An object may be any document.
  { response: ({ body }) => ({ Body: body }), isError: () => false },
)

/** At most a thousand keys; what could not be removed is among `Errors`. */
export const deleteObjects = /* @__PURE__ */ s3Command<
  { Bucket: string; Keys: string[] },
  { Errors: { Key: string; Code: string }[] }
>({ name: 'DeleteObjects', action: 's3:DeleteObject' }, 'POST', {
  request: ({ Keys }) => {
    const objects = Keys.map(key => `<Object><Key>${escapeXml(key)}</Key></Object>`).join('')
    const body = `<Delete xmlns="${NAMESPACE}">${objects}<Quiet>true</Quiet></Delete>`
    return {
      query: { delete: '' },
      body,
      headers: {
        'content-type': 'application/xml',
        'x-amz-sdk-checksum-algorithm': 'SHA256',
        'x-amz-checksum-sha256': createHash('sha256').update(body).digest('base64'),
      },
    }
  },
  response: response => ({
    Errors: elements(textOf(response), 'Error').map(error => ({
      Key: unescapeXml(elements(error, 'Key')[0] ?? ''),
      Code: elements(error, 'Code')[0] ?? '',
    })),
  }),
})

/** At most a thousand keys that begin so, and whether there are more. */
export const listObjects = /* @__PURE__ */ s3Command<
  { Bucket: string; Prefix: string; MaxKeys: number },
  { Keys: string[]; IsTruncated: boolean }
>({ name: 'ListObjectsV2', action: 's3:ListBucket' }, 'GET', {
  request: ({ Prefix, MaxKeys }) => ({
    // Escaped as in URLs: a key may hold what no XML can.
    query: {
      'encoding-type': 'url',
      'list-type': '2',
      'max-keys': String(MaxKeys),
      prefix: Prefix,
    },
  }),
  response: response => {
    const text = textOf(response)
    return {
      Keys: elements(text, 'Key').map(key => decodeURIComponent(key.replaceAll('+', ' '))),
      IsTruncated: elements(text, 'IsTruncated')[0] === 'true',
    }
  },
})

/**
 * A URL that reads an object for so many seconds, by the rights of whoever makes it; `query` has
 * what S3 is to answer it with.
 */
export const presignedGet = async (
  place: Place,
  { query, expiresIn }: { query: Record<string, string>; expiresIn: number },
): Promise<string> => {
  const url = s3().service.endpoint()
  const request = requestTo(url, {
    method: 'GET',
    body: '',
    ...addressOf(place, url),
    query,
    // Whoever follows it signs nothing.
    headers: { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' },
  })
  const signed = await presign('s3', request, expiresIn)
  const { host } = request.headers
  return `${signed.protocol}//${host}${signed.path}${queryString(signed.query)}`
}

/**
 * At AWS the bucket is a part of the host; an endpoint of one's own has it in the path. So has AWS
 * one with a dot in its name, for which its certificates are not.
 */
const addressOf = (
  { Bucket, Key }: { Bucket: string; Key?: string },
  { hostname }: URL,
): Pick<HttpRequest, 'path'> & Partial<HttpRequest> => {
  const key = (Key ?? '').split('/').map(encode).join('/')
  if (process.env.AWS_ENDPOINT_URL_S3 || Bucket.includes('.')) return { path: `/${Bucket}/${key}` }
  return { hostname: `${Bucket}.${hostname}`, path: `/${key}` }
}
