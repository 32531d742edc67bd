import { unauthenticated } from '../core/errors.ts'

/** The key in an Authorization header, or UNAUTHENTICATED. */
export const bearerToken = (header: string | undefined): string => {
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]
  if (token === undefined) throw unauthenticated()
  return token
}
