/** What a list says about an object, without opening its file. */
export type Summary = {
  size: number
  etag: string
  lastModifiedAt: string
}

/** A bucket's objects by key, and the keys in the order that lists have. */
export type Catalog = {
  get: (key: string) => Summary | undefined
  set: (key: string, summary: Summary) => void
  delete: (key: string) => void
  keys: readonly string[]
}

export const createCatalog = (entries: Iterable<[key: string, summary: Summary]>): Catalog => {
  const summaries = new Map(entries)
  const keys = [...summaries.keys()].sort(compareUtf8)
  const indexOf = (key: string) => firstIndex(keys, other => compareUtf8(other, key) >= 0)
  return {
    get: key => summaries.get(key),
    set: (key, summary) => {
      if (!summaries.has(key)) keys.splice(indexOf(key), 0, key)
      summaries.set(key, summary)
    },
    delete: key => {
      if (summaries.delete(key)) keys.splice(indexOf(key), 1)
    },
    keys,
  }
}

/** The first index where `isPast` holds, of a list where it holds for all that follow. */
export const firstIndex = (keys: readonly string[], isPast: (key: string) => boolean): number => {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isPast(keys[middle] ?? '')) {
      high = middle
      continue
    }
    low = middle + 1
  }
  return low
}

/**
 * Compares as S3 sorts: by the bytes of UTF-8, which is the order of code points. JavaScript's
 * own order is that of UTF-16, where surrogates (beyond U+FFFF) come before U+E000.
 */
export const compareUtf8 = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const [a, b] = [left.charCodeAt(index), right.charCodeAt(index)]
    if (a === b) continue
    if (isSurrogate(a) === isSurrogate(b)) return a - b
    return isSurrogate(a) ? 1 : -1
  }
  return left.length - right.length
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff
