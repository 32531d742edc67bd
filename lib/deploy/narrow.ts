import type { Statement } from './permissions.ts'

const TRANSACTION = 'dynamodb:TransactWriteItems'
/** What a transaction may hold: a role is asked for each of its writes, and not for it. */
const IN_TRANSACTIONS = [
  'dynamodb:PutItem',
  'dynamodb:UpdateItem',
  'dynamodb:DeleteItem',
  'dynamodb:ConditionCheckItem',
]
/** What code of ours asks AWS for; the rest, such as logs, is asked for by AWS itself. */
const ASKED = /^(?:dynamodb|s3|lambda|states|ses):/

/** Whether a bundle that asks for these actions can come to need what a role allows. */
const canAsk = (actions: readonly string[], allowed: string): boolean =>
  !ASKED.test(allowed) ||
  actions.includes(allowed) ||
  (actions.includes(TRANSACTION) && IN_TRANSACTIONS.includes(allowed))

/**
 * Permissions without what a bundle never asks for: a word of a reach opens what all need that have
 * it, and few need all.
 */
export const narrowed = (
  statements: readonly Statement[],
  actions: readonly string[],
): Statement[] =>
  statements
    .map(statement => ({
      ...statement,
      actions: statement.actions.filter(action => canAsk(actions, action)),
    }))
    .filter(statement => statement.actions.length > 0)
