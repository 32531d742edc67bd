import * as z from 'zod'
import { type Row, scan } from '../data/scan.ts'
import * as table from '../data/table.ts'
import { versionsOf } from './keyring.ts'
import { attributeOf, Layer } from './layer.ts'
import { decrypt, encrypt, type Place, versionOf } from './secret.ts'

/** One encrypted value of a row: where it stands in it, and the place that it was encrypted for. */
export type Sealed = {
  attribute: string
  sealed: string
  place: Place
  /** The attribute with another ciphertext in it. */
  replaced: (sealed: string) => unknown
  /** Whether it is encrypted for sure; otherwise it is if it opens, and a text like others if not. */
  isSecret: boolean
}

/** Rows that may hold encrypted values, by how their leading key begins. */
export type Source = { prefix: string; sealedIn: (row: Row) => Sealed[] }

/** Rows that are looked at with one request. */
const PAGE_ROWS = 100

export type Progress = { rows: number; reencrypted: number }

/**
 * Encrypts with the current key what older versions encrypted, value by value. It may be stopped
 * at any point and begun again: what is done is passed over. A value that someone changes at the
 * same time stays theirs.
 */
export const rotate = async (
  sources: Source[],
  {
    pageRows = PAGE_ROWS,
    onPage = () => {},
  }: { pageRows?: number; onPage?: (done: Progress) => void } = {},
): Promise<Progress> => {
  const done: Progress = { rows: 0, reencrypted: 0 }
  for await (const page of sealedPages(sources, pageRows)) {
    done.rows += page.length
    for (const { row, sealed } of page)
      for (const value of sealed) if (await renew(row, value)) done.reencrypted += 1
    onPage({ ...done })
  }
  return done
}

export type Survey = {
  /** How many values each version encrypted, of those that are configured. */
  byVersion: Record<string, number>
  /** Where secrets are that no configured version opens; they have to be entered again. */
  unreadable: Place[]
}

/** Which versions are still needed. */
export const survey = async (
  sources: Source[],
  { pageRows = PAGE_ROWS }: { pageRows?: number } = {},
): Promise<Survey> => {
  const result: Survey = {
    byVersion: Object.fromEntries(versionsOf(PURPOSE).map(version => [version, 0])),
    unreadable: [],
  }
  for await (const page of sealedPages(sources, pageRows))
    for (const { sealed, place, isSecret } of page.flatMap(found => found.sealed)) {
      const version = versionOf(sealed)
      if (version !== undefined && decrypt(sealed, place) !== undefined)
        result.byVersion[version] = (result.byVersion[version] ?? 0) + 1
      else if (isSecret) result.unreadable.push(place)
    }
  return result
}

const PURPOSE = 'settings-encryption'

async function* sealedPages(sources: Source[], pageRows: number) {
  const prefixes = sources.map(({ prefix }) => prefix)
  for await (const rows of scan(prefixes, pageRows))
    yield rows.map(row => ({
      row,
      sealed: sources
        .filter(({ prefix }) => row.pk.startsWith(prefix))
        .flatMap(({ sealedIn }) => sealedIn(row)),
    }))
}

/** Encrypts one value anew, unless it is current, doesn't open, or has changed since it was read. */
const renew = async (
  row: Row,
  { attribute, sealed, place, replaced }: Sealed,
): Promise<boolean> => {
  const [current] = versionsOf(PURPOSE)
  if (versionOf(sealed) === current) return false
  const plain = decrypt(sealed, place)
  if (plain === undefined) return false
  const { ok } = await table.update(
    z.unknown(),
    { pk: row.pk, sk: row.sk },
    { set: { [attribute]: replaced(encrypt(plain, place)) } },
    { where: { [attribute]: row[attribute] } },
  )
  return ok
}

const PREFIX = 'settings#'

/** The passwords among all settings; `isPassword` knows what tools declare. */
export const settingsSource = (isPassword: (tool: string, key: string) => boolean): Source => ({
  prefix: PREFIX,
  sealedIn: row => {
    const tool = row.pk.slice(PREFIX.length)
    return Object.entries(Layer.parse(row).entries).flatMap(([key, entry]): Sealed[] => {
      const isSecret = isPassword(tool, key)
      if (typeof entry.value !== 'string' || !(isSecret || versionOf(entry.value))) return []
      return [
        {
          attribute: attributeOf(key),
          sealed: entry.value,
          place: { layer: row.sk, tool, key },
          replaced: value => ({ ...entry, value }),
          isSecret,
        },
      ]
    })
  },
})
