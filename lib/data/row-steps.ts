/**
 * One change of a kind of row's shape. It is given the attributes that it `takes`, as far as the row
 * has them, and no others: those are taken away, and what it gives is set. So an old row is moved on
 * by one update, on condition that exactly what was read is still there.
 */
export type RowStep = {
  takes: readonly string[]
  gives: (taken: Record<string, unknown>) => Record<string, unknown>
}

/**
 * The versions of rows: for each kind (`versions.ts` says how a key names one) the steps from its
 * first version to the latest, which is the number of steps and one. No kind has changed so far.
 *
 * A new optional field, or one with a default, is no change: old rows read as they are. A step is for
 * a field that is renamed, split, or means something else. A deploy that brings one can't be taken
 * back by deploying the version before it, which refuses the rows that were written since
 * (docs/deploying.md). Whoever changes rows of a kind, or writes others on condition of their fields, moves
 * old ones on, so that its role needs `UpdateItem` of them (`lib/deploy/grants.ts`). Lists that filter by
 * a field see old rows as they were: a step leaves such fields, and those of indexes, as they are.
 */
export const ROW_STEPS: Record<string, readonly RowStep[]> = {}
