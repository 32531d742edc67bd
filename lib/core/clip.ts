/** A text of at most so many characters; a longer one ends in an ellipsis, and no pair is split. */
export const clip = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${cut(text, maxChars - 1)}…`

/** The beginning of a text, of at most so many characters, without half of one at its end. */
export const cut = (text: string, maxChars: number): string =>
  text.slice(0, maxChars).replace(LONE_HIGH, '')

const LONE_HIGH = /[\uD800-\uDBFF]$/
