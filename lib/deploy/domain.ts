import { AppError } from '../core/errors.ts'

/** Where people reach a deployment, and the certificate where its DNS isn't Route 53's. */
export type Domain = { name: string; certificate?: string }

/** DNS's limit of a name, in characters, and of each label: RFC 1035, section 2.3.4. */
export const MAX_DOMAIN_CHARS = 253
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/
/** CloudFront takes certificates of this region alone, wherever the rest is deployed. */
const CERTIFICATE = /^arn:aws(?:-[a-z-]+)?:acm:us-east-1:\d{12}:certificate\/[0-9a-zA-Z-]+$/

/** What a deploy to production says where there is none. */
export const NO_DOMAIN =
  'There is no domain: people reach this deployment at CloudFront’s address. A domain that is set later (ESPALIER_DOMAIN) changes the addresses in public links and notices, and the one that the sign-in provider sends people back to.'

/**
 * The domain that ESPALIER_DOMAIN and ESPALIER_DOMAIN_CERTIFICATE ask for, or undefined where none
 * is. INVALID_DEFINITION says what is wrong with either.
 */
export const readDomain = (environment: Record<string, string | undefined>): Domain | undefined => {
  const name = environment.ESPALIER_DOMAIN ?? ''
  const certificate = environment.ESPALIER_DOMAIN_CERTIFICATE ?? ''
  if (name === '' && certificate === '') return undefined
  if (name === '')
    throw refusal(
      'ESPALIER_DOMAIN_CERTIFICATE is set, and ESPALIER_DOMAIN, which it is for, is not.',
    )
  if (!isDomain(name))
    throw refusal(
      `ESPALIER_DOMAIN is "${name}", which is no domain. Write the name alone, in lower case and without https://, port or path: tools.example.com`,
    )
  if (certificate === '') return { name }
  if (!CERTIFICATE.test(certificate))
    throw refusal(
      'ESPALIER_DOMAIN_CERTIFICATE must be the ARN of a certificate of ACM in us-east-1, the one region whose certificates CloudFront takes: arn:aws:acm:us-east-1:123456789012:certificate/…',
    )
  return { name, certificate }
}

/**
 * A domain as SST's Router takes it. Certificate and records are made in Route 53, unless there is a
 * certificate of a name that is kept elsewhere.
 */
export const routerDomainOf = ({ name, certificate }: Domain) =>
  certificate === undefined ? { name } : { name, cert: certificate, dns: false as const }

const isDomain = (name: string): boolean => {
  const labels = name.split('.')
  const isAddress = labels.every(label => /^\d+$/.test(label))
  return (
    name.length <= MAX_DOMAIN_CHARS &&
    labels.length > 1 &&
    !isAddress &&
    labels.every(label => LABEL.test(label))
  )
}

const refusal = (message: string) => new AppError('INVALID_DEFINITION', message)
