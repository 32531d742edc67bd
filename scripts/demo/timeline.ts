import { stdout } from 'node:process'

/** Who does what: the people, the agents, and the platform itself. */
export type Actor = 'operator' | 'planner' | 'writer' | 'platform' | 'anyone'

export type Timeline = {
  /** A heading above what follows. */
  chapter: (title: string) => void
  /** Something that happened; `fields` go to the JSON form. */
  tell: (actor: Actor, event: string, text: string, fields?: Record<string, unknown>) => void
  /** A table of figures; their `fields` go to the JSON form, as one event. */
  figures: (event: string, title: string, rows: Figure[]) => void
}

/** One line of a table; where it has no text, its figures stand for themselves. */
export type Figure = { label: string; text?: string; fields: Record<string, number> }

const ACTOR_WIDTH = 9
/** How much of one line is shown of what agents say. */
const MAX_TEXT_CHARS = 200

const COLOURS: Record<Actor, number> = {
  operator: 36,
  planner: 33,
  writer: 35,
  platform: 90,
  anyone: 32,
}

/** A timeline for people, or one JSON object a line. */
export const createTimeline = (json: boolean): Timeline => {
  const started = performance.now()
  const elapsed = () => Math.round(performance.now() - started)
  const write = (line: string) => stdout.write(`${line}\n`)
  if (json)
    return {
      chapter: title => write(JSON.stringify({ milliseconds: elapsed(), chapter: title })),
      tell: (actor, event, text, fields = {}) =>
        write(JSON.stringify({ milliseconds: elapsed(), actor, event, text, ...fields })),
      figures: (event, _title, rows) =>
        write(
          JSON.stringify({
            milliseconds: elapsed(),
            event,
            ...Object.assign({}, ...rows.map(({ fields }) => fields)),
          }),
        ),
    }
  const paint = (code: number, text: string) =>
    stdout.isTTY ? `\u001B[${code}m${text}\u001B[0m` : text
  return {
    chapter: title => write(`\n${paint(1, title)}`),
    tell: (actor, _event, text) => {
      const seconds = (elapsed() / 1_000).toFixed(2).padStart(6)
      const [first = '', ...rest] = text.split('\n').map(cut)
      const indent = ' '.repeat(seconds.length + ACTOR_WIDTH + 4)
      write(
        `${paint(90, `${seconds}s`)}  ${paint(COLOURS[actor], actor.padEnd(ACTOR_WIDTH))} ${first}`,
      )
      for (const line of rest) write(indent + line)
    },
    figures: (_event, title, rows) => {
      const width = Math.max(...rows.map(({ label }) => label.length))
      write(`\n${paint(1, title)}`)
      for (const { label, text, fields } of rows)
        write(`  ${label.padEnd(width)}  ${text ?? Object.values(fields).join(', ')}`)
    },
  }
}

const cut = (text: string): string =>
  text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS - 1)}…` : text
