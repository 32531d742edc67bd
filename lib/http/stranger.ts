import type { Context } from 'hono'
import ipaddr from 'ipaddr.js'
import { optionalConfig } from '../core/config.ts'
import { limitStranger } from '../principal/rate-limit.ts'
import { sameText } from '../principal/secret.ts'
import type { Env } from './app.ts'

/** Counts a request of a route that asks for no key, or TOO_MANY_REQUESTS. */
export const limitOf = (context: Context<Env>): Promise<void> => limitStranger(addressOf(context))

/** A network of IPv6, in bytes: whoever has one address of it has all. */
const NETWORK_BYTES = 8

/** Of an event in payload format 2.0: one text for each. */
type Headers = Record<string, string | undefined>

/** What the Router proves itself with, and where it says who asks it. */
export const ROUTER_HEADER = 'x-espalier-router'
export const VIEWER_HEADER = 'x-espalier-viewer'

/**
 * Whom the gateway sees, or the Router in front of it, whatever a header of others says; for IPv6
 * its network.
 */
export const addressOf = ({ env }: Pick<Context<Env>, 'env'>): string => {
  const event = env?.event
  const http = event && 'http' in event.requestContext ? event.requestContext.http : undefined
  const text = viewerOf(event?.headers as Headers | undefined) ?? http?.sourceIp ?? ''
  if (!ipaddr.isValid(text)) return text
  const address = ipaddr.process(text)
  if (address.kind() === 'ipv4') return address.toString()
  return address.toByteArray().slice(0, NETWORK_BYTES).join('.')
}

/** The gateway can be reached past the Router, and then says itself who asks. */
const viewerOf = (headers: Headers = {}): string | undefined => {
  const secret = optionalConfig('routerSecret')
  const proof = headers[ROUTER_HEADER]
  return secret && proof && sameText(proof, secret) ? headers[VIEWER_HEADER] : undefined
}
