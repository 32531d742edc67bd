import type { measureCalls } from './calls.ts'
import type { measureBuiltIns } from './functions.ts'
import type { measureSchemas } from './schemas.ts'
import type { measureSettings } from './settings.ts'

export type Figures = {
  node: string
  rounds: number
  schemas: Awaited<ReturnType<typeof measureSchemas>>
  calls: Awaited<ReturnType<typeof measureCalls>>
  settings: Awaited<ReturnType<typeof measureSettings>>
  functions: Awaited<ReturnType<typeof measureBuiltIns>>
}

type Compared = { own: number; bare: number; ratio: number }

const KIB = 1024

/** The figures as lines to read: the ratio first, since it alone means the same on every machine. */
export const report = ({ node, rounds, schemas, calls, settings, functions }: Figures): string =>
  [
    `Node ${node}, medians of ${rounds} rounds that take turns. × is the ratio to bare Hono with zod.`,
    '',
    `${schemas.operations} operations`,
    line('define', schemas.defineMs, 'ms'),
    line('emit neutral schemas', schemas.emitMs, 'ms'),
    ...Object.entries(schemas.dialectMs).map(([dialect, compared]) =>
      line(`adapt to ${dialect}`, compared, 'ms'),
    ),
    line(
      'heap',
      {
        ...schemas.heapBytes,
        own: schemas.heapBytes.own / KIB,
        bare: schemas.heapBytes.bare / KIB,
      },
      'KiB',
    ),
    '',
    'One call, in process, its rows in memory',
    line('over HTTP without network', calls.httpMs, 'ms'),
    `  ${times(calls.loopMs.ratio)}  gate, validation, run, serialization: ${calls.loopMs.own.toFixed(3)} ms (leanest peer's loop without a gate: ${calls.loopMs.peer} ms)`,
    '',
    `${settings.keys} settings of one tool, in process, from the rows of three layers`,
    `          resolve: ${short(settings.resolveMs)} ms; and open ${settings.passwords} passwords among them: ${short(settings.openMs)} ms`,
    '',
    `Functions, beside Hono, zod and client-dynamodb (${functions.bare.kib.toFixed(0)} KiB, import ${ms(functions.bare.importMs)}, with first call ${ms(functions.bare.togetherMs)})`,
    ...functions.tools.map(
      ({ name, kib, importMs, togetherMs, ratios }) =>
        `  ${name.padEnd(16)} ${kib.toFixed(0).padStart(5)} KiB ${times(ratios.kib)}   import ${ms(importMs)} ${times(ratios.import)}   with first call ${ms(togetherMs)} ${times(ratios.together)}`,
    ),
    '',
  ].join('\n')

const line = (what: string, { own, bare, ratio }: Compared, unit: string): string =>
  `  ${times(ratio)}  ${what}: ${short(own)} ${unit} (bare: ${short(bare)} ${unit})`

const short = (value: number): string => value.toFixed(value < 10 ? 3 : 0)
const ms = (value: number | null): string =>
  `${value === null ? '-' : value.toFixed(0)} ms`.padStart(7)
const times = (ratio: number | null): string =>
  (ratio === null ? '-' : `${ratio.toFixed(2)}×`).padStart(6)
