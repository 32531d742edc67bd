import * as z from 'zod'
import * as table from '../../../lib/data/table.ts'
import { type TransactionWrite, transact } from '../../../lib/data/transact.ts'
import type { Command, Indexes, LocalKey, TransactionPart } from './commands.ts'

const Row = z.looseObject({})

/** Does what a command says by the functions of `lib/data`, in a run's own part of the table. */
export const performByData = async (run: string, command: Command): Promise<unknown> => {
  const at = ({ pk, sk }: LocalKey) => ({ pk: `${run}#${pk}`, sk })
  switch (command.how) {
    case 'get':
      return table.get(Row, at(command.key))
    case 'remove':
      return table.remove(at(command.key))
    case 'batchGet':
      return table.batchGet(command.keys.map(at))
    case 'insert':
      return table.insert(Row, command.item, {
        key: at(command.key),
        indexes: indexed(run, command.indexes),
      })
    case 'update':
      return table.update(Row, at(command.key), command.change, {
        where: command.where,
        create: command.create,
        ...(command.claim ? { claim: 'nonce' } : {}),
      })
    case 'query':
      return readPages(run, command)
    case 'transact':
      return transact(command.writes.map(write => writeOf(run, write, at(write.key))))
    default:
      return command satisfies never
  }
}

/** All pages, one after another. */
const readPages = async (
  run: string,
  { index, hash, prefix, before, newestFirst, limit }: Extract<Command, { how: 'query' }>,
): Promise<void> => {
  let cursor: string | undefined
  do {
    const page = await table.query(Row, {
      pk: `${run}#${hash}`,
      newestFirst,
      ...(index === undefined ? {} : { index }),
      ...(prefix === undefined ? {} : { prefix }),
      ...(before === undefined ? {} : { before }),
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    })
    cursor = page.cursor
  } while (cursor)
}

const writeOf = (run: string, write: TransactionPart, key: LocalKey): TransactionWrite => {
  switch (write.how) {
    case 'insert':
      return { insert: write.item, key, indexes: indexed(run, write.indexes) }
    case 'put':
      return { put: write.item, key, indexes: indexed(run, write.indexes) }
    case 'update': {
      const { change, where, create } = write
      return { update: change, key, where, ...(create ? { create } : {}) }
    }
    case 'remove':
      return { remove: key, where: write.where }
    case 'check':
      return { check: key, where: write.where }
    default:
      return write satisfies never
  }
}

const indexed = (run: string, indexes: Indexes): Record<string, string> =>
  Object.fromEntries(
    indexes.flatMap(({ index, hash, range }) => [
      [`${index}pk`, `${run}#${hash}`],
      [`${index}sk`, range],
    ]),
  )
