import { cut } from '../core/clip.ts'
import { optionalConfig, variableOf } from '../core/config.ts'
import { AppError } from '../core/errors.ts'
import { readable } from '../core/readable.ts'

/** Claims with the values of each, of which one is enough to come in without an invitation. */
type Rule = { claim: string; values: readonly string[] }

/** The domain of a verified e-mail, as a claim of its own. */
const EMAIL_DOMAIN = 'email_domain'

/**
 * Whether what a provider says of someone lets them in without an invitation. Where nothing is
 * configured, nobody is let in.
 */
export const isAllowed = (claims: Record<string, unknown>): boolean =>
  readRules(optionalConfig('oidcAllow') ?? '').some(({ claim, values }) =>
    valuesOf(claims, claim).some(value => values.includes(value)),
  )

/** The e-mail that the provider has verified, in lower case. */
export const verifiedEmail = ({
  email,
  email_verified,
}: Record<string, unknown>): string | undefined =>
  typeof email === 'string' && email_verified === true ? email.toLowerCase() : undefined

/** What someone may be called. */
export const MAX_NAME_CHARS = 100
export const nameOf = ({ name, preferred_username, email }: Record<string, unknown>): string => {
  const [known = 'Someone'] = [name, preferred_username, email].flatMap(value =>
    typeof value === 'string' ? (readable(value.toWellFormed()) ?? []) : [],
  )
  return cut(known, MAX_NAME_CHARS)
}

const valuesOf = (claims: Record<string, unknown>, claim: string): string[] => {
  const email = verifiedEmail(claims)
  if (claim === EMAIL_DOMAIN)
    return email === undefined ? [] : [email.slice(email.lastIndexOf('@') + 1)]
  // An e-mail that nobody has verified is what someone typed.
  if (claim === 'email') return email === undefined ? [] : [email]
  const own = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  return [own].flat().filter(value => typeof value === 'string')
}

const RULE = /^([\w:./-]+)\s*=\s*(.+)$/

const readRules = (text: string): Rule[] =>
  text
    .split(';')
    .map(part => part.trim())
    .filter(part => part !== '')
    .map(part => {
      const [, claim = '', list = ''] = RULE.exec(part) ?? []
      const isEmail = claim === 'email' || claim === EMAIL_DOMAIN
      const values = list
        .split(',')
        .map(value => (isEmail ? value.trim().toLowerCase() : value.trim()))
        .filter(value => value !== '')
      if (values.length > 0) return { claim, values }
      throw new AppError(
        'NOT_CONFIGURED',
        `${variableOf('oidcAllow')} must hold rules such as "email_domain=example.com; groups=operators,admins".`,
      )
    })
