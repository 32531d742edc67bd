import { errorFields, log } from '../core/log.ts'

type Tracing = typeof import('./tell.ts')

/**
 * Tells of something that has ended, where tracing is on; that this fails is no failure of what it
 * tells of. Off, nothing of it is loaded: this is the one place that looks, by the very words that a
 * bundler can put a value in for, so that a bundle of a deployment without traces holds none of it.
 */
export const trace = (tell: (tracing: Tracing) => unknown): Promise<unknown> | undefined =>
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT ? import('./tell.ts').then(tell).catch(untold) : undefined

const untold = (error: unknown): void => log('warn', 'span-not-made', errorFields(error))
