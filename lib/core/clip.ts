/** A text of at most so many characters; a longer one ends in an ellipsis, and no pair is split. */
export const clip = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).replace(LONE_HIGH, '')}…`

const LONE_HIGH = /[\uD800-\uDBFF]$/
