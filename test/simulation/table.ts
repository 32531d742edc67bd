import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { capacityOf, unitsOfIndexes, unitsOfWrite } from './table/capacity.ts'
import { unsupported } from './table/errors.ts'
import { query } from './table/query.ts'
import { batchGetItem, getItem } from './table/read.ts'
import { createRows, type Rows, type View } from './table/rows.ts'
import { type Tokens, transactWriteItems } from './table/transact.ts'
import { attributesOf, planWrite, type WriteInput, type WriteKind } from './table/write.ts'

export type FakeTable = {
  /**
   * Performs one command by its name as the SDK's middleware sees it (`GetItemCommand`, …) on its
   * input, and returns its output or throws the SDK's own exception. What DynamoDB could do and
   * this table can't, throws an error of its own that says so.
   */
  perform: (commandName: string, input: object) => object
  /**
   * As `perform`, for a read that need not be consistent: of what changed in the last `lagMs`,
   * every item is seen at a random one of its moments.
   */
  performLate: (
    commandName: string,
    input: object,
    options: { random: () => number; lagMs: number },
  ) => object
  /** A copy of all items, for checks; in no order. */
  items: () => Record<string, AttributeValue>[]
  /** Another table that holds the same. */
  clone: () => FakeTable
}

/**
 * DynamoDB's table of `lib/data/definition.ts` in memory: synchronous and deterministic, with what
 * the platform uses of it and the real thing's answers, errors and bills. Beside the items, only
 * `Date` enters: how old a change is, and how long a transaction's token is known. Nothing is
 * removed at its `ttl`: DynamoDB may take days for it.
 */
export const createFakeTable = (): FakeTable => tableOf(createRows(), new Map())

const tableOf = (rows: Rows, tokens: Tokens): FakeTable => {
  const perform = (commandName: string, input: object, view: View = rows): object => {
    switch (commandName) {
      case 'GetItemCommand':
        return getItem(view, input as never)
      case 'BatchGetItemCommand':
        return batchGetItem(view, input as never)
      case 'QueryCommand':
        return query(view, input as never)
      case 'PutItemCommand':
        return write(rows, 'Put', input)
      case 'UpdateItemCommand':
        return write(rows, 'Update', input)
      case 'DeleteItemCommand':
        return write(rows, 'Delete', input)
      case 'TransactWriteItemsCommand':
        return transactWriteItems({ rows, tokens, now: Date.now() }, input as never)
      default:
        throw unsupported(commandName)
    }
  }
  return {
    perform: (commandName, input) => perform(commandName, input),
    performLate: (commandName, input, { random, lagMs }) =>
      perform(commandName, input, rows.late(random, Date.now() - lagMs)),
    items: () => rows.all().map(({ item }) => structuredClone(item)),
    clone: () => tableOf(rows.clone(), new Map(tokens)),
  }
}

const write = (
  rows: Rows,
  kind: Exclude<WriteKind, 'ConditionCheck'>,
  input: WriteInput & { ReturnConsumedCapacity?: string },
): object => {
  const attributes = attributesOf(kind, input)
  const { pk, sk, run } = planWrite(kind, input, true)
  const { before, after } = run(rows)
  rows.set({ pk, sk }, after, Date.now())
  return {
    ...attributes({ before, after }),
    ...capacityOf(
      input,
      input.TableName,
      () => unitsOfWrite(before, after) + unitsOfIndexes(before, after),
    ),
  }
}
