/** Names that a wrong one may have meant are told: so many at most. */
export const MAX_NEAREST = 3
/** Of a name this long the changes are counted; nobody mistypes a longer one. */
const MAX_NAME_CHARS = 100

/** Those names that are like a wrong one, the most alike first. */
export const nearest = (wrong: string, names: readonly string[]): string[] => {
  const asked = plain(wrong)
  if (asked === '' || asked.length > MAX_NAME_CHARS) return []
  return names
    .map(name => ({ name, changes: likeness(asked, plain(name)) }))
    .filter(({ changes }) => changes < Number.POSITIVE_INFINITY)
    .toSorted((one, other) => one.changes - other.changes)
    .slice(0, MAX_NEAREST)
    .map(({ name }) => name)
}

/** Upper case and what parts words are where names of tools go wrong most. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '')

/** Up to a third of the letters may be wrong, or the one name may be a part of the other. */
const likeness = (asked: string, name: string): number => {
  const changes = editDistance(asked, name)
  if (changes <= Math.max(1, Math.floor(Math.max(asked.length, name.length) / 3))) return changes
  const [short, long] = asked.length < name.length ? [asked, name] : [name, asked]
  return short.length >= 3 && long.includes(short) ? changes : Number.POSITIVE_INFINITY
}

/** Letters that were added, left out, changed, or swapped with the next (optimal string alignment). */
export const editDistance = (one: string, other: string): number => {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)]
  const cell = (row: number, column: number) => rows[row]?.[column] ?? 0
  for (let row = 1; row <= one.length; row++) {
    rows[row] = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwapped =
        row > 1 &&
        column > 1 &&
        one[row - 1] === other[column - 2] &&
        one[row - 2] === other[column - 1]
      const candidates = [
        cell(row - 1, column) + 1,
        cell(row, column - 1) + 1,
        cell(row - 1, column - 1) + (isSame ? 0 : 1),
        ...(isSwapped ? [cell(row - 2, column - 2) + 1] : []),
      ]
      rows[row]?.push(Math.min(...candidates))
    }
  }
  return cell(one.length, other.length)
}

/** A sentence that names them, to stand beside the list of all there are; empty without any. */
export const didYouMean = (wrong: string, names: readonly string[]): string => {
  const near = nearest(wrong, names)
  return near.length === 0 ? '' : ` Did you mean ${near.map(name => `"${name}"`).join(' or ')}?`
}
