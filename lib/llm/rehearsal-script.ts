/** One line of a rehearsal's script: `/<tool> <operation> <arguments as JSON>`. */
export type ScriptLine = {
  /** As it is written, for what is said about it. */
  source: string
  tool: string
  /** Empty where the line has none: a tool of a single operation needs none. */
  operation: string
  /** The arguments' text, which may be no JSON: the platform has to bear that as well. */
  json: string
}

const LINE = /^\/([a-z][a-z0-9_:-]*)(?:\s+([a-z][a-z0-9_]*))?(?:\s+(\S.*))?$/

/**
 * The script in a message: its steps, each the lines that are called together. Lines that stand
 * directly together are one step; an empty line or a line of prose between them begins the next.
 */
export const parseScript = (text: string): ScriptLine[][] => {
  const steps: ScriptLine[][] = []
  let isOpen = false
  for (const source of text.split(/\r?\n/)) {
    const line = parseLine(source.trim())
    if (line && isOpen) steps.at(-1)?.push(line)
    else if (line) steps.push([line])
    isOpen = line !== undefined
  }
  return steps
}

const parseLine = (source: string): ScriptLine | undefined => {
  const [, tool, operation = '', json = '{}'] = LINE.exec(source) ?? []
  return tool === undefined ? undefined : { source, tool, operation, json }
}

/** A call's result, as far as it has come. */
export type Answer = { text: string; isError: boolean }

/** `{{2.items.0.id}}`: the second call's result, and a path in it. `{{2}}`: its whole text. */
const PLACEHOLDER = /\{\{\s*(\d+)((?:\.[^.{}\s]+)*)\s*\}\}/

/**
 * A value of a script's JSON with its placeholders filled in from the calls' answers. A string
 * that is nothing but a placeholder becomes the value itself, be it a number or a list; within a
 * longer string it becomes text.
 */
export const fill = (value: unknown, answers: (Answer | undefined)[]): unknown => {
  if (typeof value === 'string') return fillText(value, answers)
  if (Array.isArray(value)) return value.map(item => fill(item, answers))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, answers)]))
}

const fillText = (text: string, answers: (Answer | undefined)[]): unknown => {
  const only = PLACEHOLDER.exec(text)
  if (only && only[0] === text) return look(only[0], only[1], only[2], answers)
  // In one pass, so that a result which holds braces itself is not filled in again.
  return text.replace(new RegExp(PLACEHOLDER, 'g'), (placeholder, number, path) => {
    const value = look(placeholder, number, path, answers)
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}

/** Thrown by `fill`, and caught where a step is made. */
export class PlaceholderError extends Error {}

const look = (
  placeholder: string,
  number: string | undefined,
  path: string | undefined,
  answers: (Answer | undefined)[],
): unknown => {
  const answer = answers[Number(number) - 1]
  if (!answer)
    throw new PlaceholderError(`${placeholder}: there is no result of call ${number} yet`)
  if (!path) return answer.text
  let value = parse(answer.text)
  for (const key of path.slice(1).split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
      throw new PlaceholderError(`${placeholder}: the result of call ${number} has nothing there`)
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
