import { type Author, auditWrite } from '../audit/audit.ts'
import type { TransactionWrite } from '../data/transact.ts'
import type { Subscription } from './subscription.ts'

/** A change of a subscription in the log of its principal. */
export const entryOf = (
  action: string,
  { id, principalId }: Pick<Subscription, 'id' | 'principalId'>,
  { by, keyId, clock }: Author,
  change: Pick<Parameters<typeof auditWrite>[1], 'from' | 'to'>,
): TransactionWrite =>
  auditWrite(principalId, { by, ...(keyId ? { keyId } : {}), action, target: id, ...change }, clock)

/** What the log tells of a subscription. Of an address only where it leads: the rest may be a secret. */
export const told = ({ name, url, emails, events, disabledBecause }: Subscription) => ({
  name,
  ...(url === undefined ? {} : { url: new URL(url).origin }),
  ...(emails === undefined ? {} : { emails }),
  events,
  enabled: disabledBecause === undefined,
})
