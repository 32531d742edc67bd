import path from 'node:path'
import { OPERATIONS, TOOLS } from './declarations.ts'
import { measureIn, median } from './process.ts'

export type SchemaSample = {
  defineMs: number
  emitMs: number
  /** Heap that the declarations and their neutral schemas hold. */
  bytes: number
  dialects: Record<string, number>
}

const CHILD = path.join(import.meta.dirname, 'schemas-child.ts')

/**
 * What 500 operations cost beside as many routes of bare Hono with the same zod schemas: to
 * define, to emit (against zod's own emission), to adapt to each provider, and in memory.
 */
export const measureSchemas = async ({ rounds }: { rounds: number }) => {
  const samples = { bare: [] as SchemaSample[], espalier: [] as SchemaSample[] }
  for (let round = 0; round < rounds; round++)
    for (const [side, taken] of Object.entries(samples))
      taken.push(await measureIn<SchemaSample>(['--expose-gc', CHILD, side, String(round)]))
  const compare = (figure: (sample: SchemaSample) => number) => {
    const own = median(samples.espalier.map(figure))
    const bare = median(samples.bare.map(figure))
    return { own, bare, ratio: own / bare }
  }
  const emitBareMs = median(samples.bare.map(({ emitMs }) => emitMs))
  return {
    operations: TOOLS * OPERATIONS,
    defineMs: compare(({ defineMs }) => defineMs),
    emitMs: compare(({ emitMs }) => emitMs),
    heapBytes: compare(({ bytes }) => bytes),
    dialectMs: Object.fromEntries(
      Object.keys(samples.espalier[0]?.dialects ?? {}).map(dialect => {
        const own = median(samples.espalier.map(({ dialects }) => dialects[dialect] ?? 0))
        return [dialect, { own, bare: emitBareMs, ratio: own / emitBareMs }]
      }),
    ),
  }
}
