import { TransactionConflictException } from '@aws-sdk/client-dynamodb'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import { CONFLICT_ATTEMPTS } from '../../../lib/data/conflict.ts'
import * as table from '../../../lib/data/table.ts'
import { useLocalTable } from '../../local-table.ts'

useLocalTable()

const Item = z.object({ count: z.int() })
const key = { pk: 'item', sk: 'item' }

/** The next so many writes meet a transaction, which the local table never has at that moment. */
const meetTransactions = (count: number) => {
  let left = count
  const { middlewareStack } = dynamodb()
  middlewareStack.add(
    next => async args => {
      if (left-- > 0) throw new TransactionConflictException({ message: 'busy', $metadata: {} })
      return next(args)
    },
    { step: 'initialize', name: 'conflict' },
  )
  onTestFinished(() => {
    middlewareStack.remove('conflict')
  })
}

describe('a write that meets a transaction on its item', () => {
  it('is tried again until there is none', async () => {
    await table.insert(Item, { count: 1 }, { key })
    meetTransactions(2)
    expect(await table.update(Item, key, { add: { count: 1 } })).toEqual({
      ok: true,
      item: { count: 2 },
    })
  })

  it('fails after as many attempts as it has', async () => {
    meetTransactions(CONFLICT_ATTEMPTS)
    await expect(table.update(Item, key, { add: { count: 1 } })).rejects.toThrow('busy')
    expect(await table.get(Item, key)).toEqual({ count: 2 })
  })
})
