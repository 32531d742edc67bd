import { readText } from './body.ts'
import { CorsRule, corsHeaders, matchingRule } from './cors-rule.ts'
import { S3Error } from './errors.ts'
import type { Handler } from './exchange.ts'
import type { Reply, S3Request } from './request.ts'
import { bucketOf, type Store, setCorsRules } from './store.ts'
import { childrenOf, parseXml, renderXml, textOf, type XmlElement, type XmlNode } from './xml.ts'

/** The most rules of a bucket (S3 API reference, PutBucketCors: 100). */
const MAX_CORS_RULES = 100
/** The longest configuration (S3 API reference, PutBucketCors: 64 KB). */
const MAX_CORS_BYTES = 64 * 1024

export const putBucketCors: Handler = async ({ request, payload, store }) => {
  const bucket = bucketOf(store, request.bucket)
  const document = parseXml(await readText(request, payload, { limit: MAX_CORS_BYTES }))
  const rules = childrenOf(document, 'CORSRule').map(parseRule)
  if (document.name !== 'CORSConfiguration' || rules.length < 1 || rules.length > MAX_CORS_RULES) {
    throw malformed()
  }
  await setCorsRules(store, bucket, rules)
  return { status: 200 }
}

export const getBucketCors: Handler = async ({ request, store }) => {
  const rules = bucketOf(store, request.bucket).corsRules ?? []
  if (rules.length > 0) {
    return { status: 200, body: renderXml('CORSConfiguration', rules.map(renderRule)) }
  }
  throw new S3Error('NoSuchCORSConfiguration', 'The CORS configuration does not exist.')
}

export const deleteBucketCors: Handler = async ({ request, store }) => {
  await setCorsRules(store, bucketOf(store, request.bucket), [])
  return { status: 204 }
}

/** Answers a browser that asks whether it may send a request; it carries no signature. */
export const preflight = (request: S3Request, store: Store): Reply => {
  const origin = request.headers.get('origin')
  const method = request.headers.get('access-control-request-method')
  if (!origin || !method) {
    throw new S3Error('InvalidArgument', 'Insufficient information: no origin or method.')
  }
  const asked = request.headers.get('access-control-request-headers') ?? ''
  const headers = asked
    .split(',')
    .map(header => header.trim().toLowerCase())
    .filter(Boolean)
  const rules = store.buckets.get(request.bucket)?.corsRules ?? []
  const rule = matchingRule(rules, { origin, method, headers })
  if (!rule) throw new S3Error('AccessForbidden', 'This CORS request is not allowed.')
  const allowed = headers.length > 0 ? { 'access-control-allow-headers': headers.join(', ') } : {}
  return { status: 200, headers: { ...corsHeaders(rule, origin), ...allowed } }
}

/** What every answer to a browser carries besides, so that its page may read it. */
export const corsHeadersFor = (request: S3Request, store: Store): Record<string, string> => {
  const origin = request.headers.get('origin')
  const rules = store.buckets.get(request.bucket)?.corsRules
  if (!origin || !rules) return {}
  const rule = matchingRule(rules, { origin, method: request.method, headers: [] })
  return rule ? corsHeaders(rule, origin) : {}
}

const parseRule = (element: XmlElement): CorsRule => {
  const texts = (name: string) => childrenOf(element, name).map(child => child.text)
  const [id, maxAge] = [textOf(element, 'ID'), textOf(element, 'MaxAgeSeconds')]
  const rule = CorsRule.safeParse({
    allowedOrigins: texts('AllowedOrigin'),
    allowedMethods: texts('AllowedMethod'),
    allowedHeaders: texts('AllowedHeader'),
    exposeHeaders: texts('ExposeHeader'),
    ...(id === undefined ? {} : { id }),
    ...(maxAge === undefined ? {} : { maxAgeSeconds: Number(maxAge) }),
  })
  if (!rule.success) throw malformed(rule.error)
  const patterns = [...rule.data.allowedOrigins, ...rule.data.allowedHeaders]
  if (patterns.some(pattern => pattern.split('*').length > 2)) throw malformed()
  return rule.data
}

const renderRule = (rule: CorsRule): XmlNode => {
  const many = (name: string, texts: string[]): XmlNode[] => texts.map(text => [name, text])
  return [
    'CORSRule',
    [
      ...many('ID', rule.id === undefined ? [] : [rule.id]),
      ...many('AllowedOrigin', rule.allowedOrigins),
      ...many('AllowedMethod', rule.allowedMethods),
      ...many('AllowedHeader', rule.allowedHeaders),
      ...many('ExposeHeader', rule.exposeHeaders),
      ...many('MaxAgeSeconds', rule.maxAgeSeconds === undefined ? [] : [`${rule.maxAgeSeconds}`]),
    ],
  ]
}

const malformed = (cause?: unknown): S3Error =>
  new S3Error('MalformedXML', 'The XML is not a valid CORS configuration.', { cause })
