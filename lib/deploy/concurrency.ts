import { AppError } from '../core/errors.ts'

/** "Concurrent executions" of Lambda, as Service Quotas names it. */
export const CONCURRENCY_QUOTA = { serviceCode: 'lambda', quotaCode: 'L-B99A9384' } as const
const QUOTA_LINK = `https://console.aws.amazon.com/servicequotas/home/services/${CONCURRENCY_QUOTA.serviceCode}/quotas/${CONCURRENCY_QUOTA.quotaCode}`
/**
 * What AWS keeps for functions without a reservation:
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
 */
export const UNRESERVED = 100
/** With fewer ticks at once than this, tasks would wait longer for a tick than for an operation. */
export const MIN_TICKS = 10

export type TickConcurrency = {
  /** How many ticks run at once at most; without it, as many as the account has room for. */
  reserved?: number
  /** What whoever deploys should know. */
  notice?: string
}

/**
 * How many ticks may run at once. Each needs an operation beside it, so they get less than half of
 * what the account's functions may be in all (`quota`; undefined where it couldn't be read), and a
 * reservation takes its share from all others in the account: only production has one, unless
 * `asked` (ESPALIER_TICK_CONCURRENCY, a number or "off") says otherwise. INVALID_DEFINITION says
 * what it may be.
 */
export const tickConcurrency = ({
  quota,
  asked = '',
  isProduction,
}: {
  quota: number | undefined
  asked?: string | undefined
  isProduction: boolean
}): TickConcurrency => {
  const most = quota === undefined ? undefined : mostTicks(quota)
  if (asked !== '') return readAsked(asked, quota)
  if (!isProduction) return {}
  if (most === undefined)
    return {
      notice: `Ticks are not limited: Lambda's quota of concurrent executions could not be read, which takes servicequotas:GetServiceQuota. Set ESPALIER_TICK_CONCURRENCY to less than half of it (${QUOTA_LINK}).`,
    }
  if (most >= MIN_TICKS) return { reserved: most }
  return {
    notice: `Ticks are not limited: ${roomOf(quota)}, ${UNRESERVED} of which can't be reserved. Many tasks at once will slow each other down. Have "Concurrent executions" raised to 1,000 (${QUOTA_LINK}), then deploy again.`,
  }
}

/** The most ticks at once that leave an operation beside each, and what AWS keeps. */
const mostTicks = (quota: number): number =>
  Math.max(0, Math.min(Math.ceil(quota / 2) - 1, quota - UNRESERVED))

/** What ESPALIER_TICK_CONCURRENCY asks for, where the account can give it. */
const readAsked = (asked: string, quota: number | undefined): TickConcurrency => {
  if (asked === 'off') return {}
  if (!/^[1-9]\d{0,5}$/.test(asked))
    throw refusal(`is "${asked}"; it must be a whole number from 1, or "off"`)
  const reserved = Number(asked)
  if (quota === undefined || reserved <= mostTicks(quota)) return { reserved }
  throw refusal(
    `is ${asked}, and ${roomOf(quota)}. Ticks may have ${mostTicks(quota)}: less than half, and ${UNRESERVED} can't be reserved. Have the quota raised (${QUOTA_LINK}), or write "off"`,
  )
}

const roomOf = (quota: number | undefined): string =>
  `this account has room for ${quota} functions at once`

const refusal = (what: string) =>
  new AppError('INVALID_DEFINITION', `ESPALIER_TICK_CONCURRENCY ${what}.`)
