import {
  type CancellationReason,
  ConditionalCheckFailedException,
  type ConsumedCapacity,
  IdempotentParameterMismatchException,
  type TransactWriteItem,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb'
import { isAsked, readUnits, TRANSACTION_FACTOR, unitsOfIndexes, unitsOfWrite } from './capacity.ts'
import { cancelled, invalid, isInvalid } from './errors.ts'
import { checkParameters, isEmptyKey, isUnfitKey } from './request.ts'
import type { Rows } from './rows.ts'
import { itemBytes } from './value.ts'
import { type Change, type Plan, planWrite, type WriteKind } from './write.ts'

/** DynamoDB's limits of one transaction, and how long it knows a request by its token. */
const MAX_WRITES = 100
const MAX_TRANSACTION_BYTES = 4 * 1_024 * 1_024
const MAX_TOKEN_CHARS = 36
export const TOKEN_VALID_MS = 10 * 60 * 1_000

const PARAMETERS = new Set(['TransactItems', 'ClientRequestToken', 'ReturnConsumedCapacity'])
const KINDS: WriteKind[] = ['Put', 'Update', 'Delete', 'ConditionCheck']

/** The transactions that landed, by their tokens. */
export type Tokens = Map<string, { writes: TransactWriteItem[]; bytes: number[]; at: number }>

export const transactWriteItems = (
  { rows, tokens, now }: { rows: Rows; tokens: Tokens; now: number },
  input: TransactWriteItemsCommandInput,
): object => {
  checkParameters('TransactWriteItems', input, PARAMETERS)
  const { TransactItems: writes = [], ClientRequestToken: token } = input
  if (writes.length < 1 || writes.length > MAX_WRITES)
    throw invalid(`There must be 1 to ${MAX_WRITES} writes`)
  if (token !== undefined && (token === '' || token.length > MAX_TOKEN_CHARS))
    throw invalid(`ClientRequestToken must have 1 to ${MAX_TOKEN_CHARS} characters`)
  const before = token === undefined ? undefined : tokens.get(token)
  if (before && now - before.at < TOKEN_VALID_MS) return again(before, input)

  const actions = writes.map(actionOf)
  // What is wrong with an expression comes before all else.
  const plans = actions.map(planOf)
  checkTargets(actions)
  const changes = run(rows, plans)
  for (const { pk, sk, before: old, after } of changes)
    if (old !== after) rows.set({ pk, sk }, after, now)
  if (token !== undefined) {
    forget(tokens, now)
    tokens.delete(token)
    tokens.set(token, { writes, bytes: changes.map(sizeOf), at: now })
  }
  return answer(input, 'WriteCapacityUnits', () =>
    changes.reduce(
      (sum, { before: old, after }) =>
        sum + TRANSACTION_FACTOR * unitsOfWrite(old, after) + unitsOfIndexes(old, after),
      0,
    ),
  )
}

type Action = { kind: WriteKind; input: Parameters<typeof planWrite>[1] }

const actionOf = (write: TransactWriteItem): Action => {
  const [kind, another] = KINDS.filter(each => write[each] !== undefined)
  if (!kind || another) throw invalid('TransactItems can only contain one action each')
  return { kind, input: write[kind] as Action['input'] }
}

const planOf = ({ kind, input }: Action): Plan | Error => {
  try {
    return planWrite(kind, input, false)
  } catch (error) {
    if (error instanceof Error && isUnfitKey(error)) return error
    throw error
  }
}

const checkTargets = (actions: Action[]): void => {
  const targets = new Set<string>()
  let bytes = 0
  for (const { input } of actions) {
    const target = input.Item ?? input.Key
    bytes += itemBytes({ ...target, ...input.ExpressionAttributeValues })
    targets.add(JSON.stringify([target?.pk?.S, target?.sk?.S]))
  }
  if (targets.size < actions.length)
    throw invalid('Transaction request cannot include multiple operations on one item')
  if (bytes > MAX_TRANSACTION_BYTES)
    throw invalid('The aggregate size of the items in the transaction exceeds the 4MB limit')
}

/** What all writes make of their rows, or the exception that says which of them can't be done. */
const run = (rows: Rows, plans: (Plan | Error)[]): (Plan & Change)[] => {
  const changes: (Plan & Change)[] = []
  const reasons: CancellationReason[] = []
  for (const plan of plans) {
    try {
      if (plan instanceof Error) throw plan
      changes.push({ ...plan, ...plan.run(rows) })
      reasons.push({ Code: 'None' })
    } catch (error) {
      reasons.push(reasonOf(error))
    }
  }
  if (changes.length < plans.length) throw cancelled(reasons)
  return changes
}

const reasonOf = (error: unknown): CancellationReason => {
  if (error instanceof ConditionalCheckFailedException)
    return {
      Code: 'ConditionalCheckFailed',
      Message: error.message,
      ...(error.Item ? { Item: error.Item } : {}),
    }
  if (isInvalid(error) && !isEmptyKey(error))
    return { Code: 'ValidationError', Message: error.message }
  throw error
}

const sizeOf = ({ before, after }: Change): number =>
  Math.max(before?.bytes ?? 0, after?.bytes ?? 0)

/** The same request once more: nothing is written, and reading what was written is billed. */
const again = (
  { writes, bytes }: { writes: TransactWriteItem[]; bytes: number[] },
  input: TransactWriteItemsCommandInput,
): object => {
  if (JSON.stringify(input.TransactItems) !== JSON.stringify(writes))
    throw new IdempotentParameterMismatchException({
      message: 'The request uses the same client token as a previous, but non-identical request.',
      $metadata: { httpStatusCode: 400 },
    })
  return answer(input, 'ReadCapacityUnits', () =>
    bytes.reduce((sum, each) => sum + TRANSACTION_FACTOR * readUnits(each), 0),
  )
}

const answer = (
  input: TransactWriteItemsCommandInput,
  kind: 'ReadCapacityUnits' | 'WriteCapacityUnits',
  unitsOf: () => number,
): { ConsumedCapacity?: ConsumedCapacity[] } => {
  if (!isAsked(input.ReturnConsumedCapacity)) return {}
  const units = unitsOf()
  const [TableName] = (input.TransactItems ?? []).map(write => actionOf(write).input.TableName)
  return { ConsumedCapacity: [{ TableName, CapacityUnits: units, [kind]: units }] }
}

/** Tokens are kept in the order of their time. */
const forget = (tokens: Tokens, now: number): void => {
  for (const [token, { at }] of tokens) {
    if (now - at < TOKEN_VALID_MS) return
    tokens.delete(token)
  }
}
