import type { Context } from 'hono'
import ipaddr from 'ipaddr.js'
import { limitStranger } from '../principal/rate-limit.ts'
import type { Env } from './app.ts'

/** Counts a request of a route that asks for no key, or TOO_MANY_REQUESTS. */
export const limitOf = (context: Context<Env>): Promise<void> => limitStranger(addressOf(context))

/** A network of IPv6, in bytes: whoever has one address of it has all. */
const NETWORK_BYTES = 8

/** Whom the gateway sees, whatever a header says; for IPv6 its network. */
export const addressOf = ({ env }: Pick<Context<Env>, 'env'>): string => {
  const event = env?.event
  const http = event && 'http' in event.requestContext ? event.requestContext.http : undefined
  const text = http?.sourceIp ?? ''
  if (!ipaddr.isValid(text)) return text
  const address = ipaddr.process(text)
  if (address.kind() === 'ipv4') return address.toString()
  return address.toByteArray().slice(0, NETWORK_BYTES).join('.')
}
