/**
 * What an answer may hold of stored values, in bytes of JSON. Lambda takes 6 MB, in which the body
 * stands as a JSON text once more: that may double it.
 */
export const MAX_ANSWER_BYTES = 2.75 * 1024 * 1024

/** The room that is left in one answer: what has no place in it any more is told as truncated. */
export type Room = {
  /** Takes so many bytes, if there are. */
  take: (bytes: number) => boolean
}

export const createRoom = (bytes = MAX_ANSWER_BYTES): Room => {
  let left = bytes
  return {
    take: wanted => {
      if (wanted > left) return false
      left -= wanted
      return true
    },
  }
}
