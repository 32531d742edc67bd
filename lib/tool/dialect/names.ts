import { createHash } from 'node:crypto'
import { type Dialect, TABLES } from './tables.ts'

/** Hexadecimal digits of a name's digest in its alias; more where that one is taken. */
const DIGEST_CHARS = 8

/** A tool's name as ours are: what its author called it, with its plugin's slug before a colon. */
const ORDINARY = /^(?:[a-z][a-z0-9-]*:)?[a-z][a-z0-9_]*$/

/**
 * An alias for each qualified name, within the provider's pattern and length, with the name that
 * it stands for. Names may have any characters; no two share an alias. A name's alias depends on
 * the other names only where they would share one: then ours keeps the plain one, or else the name
 * that is one already, or else the first in order, and the others carry a digest of themselves.
 */
export const aliasesOf = (dialect: Dialect, names: readonly string[]): Map<string, string> => {
  const aliases = new Map<string, string>()
  const left: string[] = []
  const plain = (name: string) => plainAlias(dialect, name)
  for (const name of [...new Set(names)].sort(
    (a, b) => rank(a, plain(a)) - rank(b, plain(b)) || (a < b ? -1 : 1),
  )) {
    const alias = plain(name)
    if (alias === undefined || aliases.has(alias)) left.push(name)
    else aliases.set(alias, name)
  }
  for (const name of left) aliases.set(digestAlias(dialect, name, aliases), name)
  const byName = new Map([...aliases].map(([alias, name]) => [name, alias]))
  return new Map([...new Set(names)].map(name => [byName.get(name) ?? name, name]))
}

const rank = (name: string, alias: string | undefined): number =>
  ORDINARY.test(name) ? 0 : name === alias ? 1 : 2

/** The alias without a digest; undefined where the name is too long or empty. */
const plainAlias = (dialect: Dialect, name: string): string | undefined => {
  const { maxChars } = TABLES[dialect].toolName
  const alias = safe(dialect, ORDINARY.test(name) ? name.replace(':', '-') : name)
  return alias === '' || alias.length > maxChars ? undefined : alias
}

const safe = (dialect: Dialect, name: string): string => {
  const { refused, start } = TABLES[dialect].toolName
  const text = name.replace(refused, '_')
  return start.test(text) || text === '' ? text : `_${text}`
}

const digestAlias = (dialect: Dialect, name: string, taken: Map<string, string>): string => {
  // As UTF-16, in which every text has a form of its own, even half of a pair.
  const digest = createHash('sha256').update(Buffer.from(name, 'utf16le')).digest('hex')
  for (let chars = DIGEST_CHARS; ; chars++) {
    const end = chars <= digest.length ? digest.slice(0, chars) : `${digest.slice(0, 40)}${chars}`
    const room = TABLES[dialect].toolName.maxChars - end.length - 1
    const head = safe(dialect, name).slice(0, Math.max(room, 0)) || 'tool'
    const alias = `${head}_${end}`
    if (!taken.has(alias)) return alias
  }
}
