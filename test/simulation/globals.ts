import { createRequire, syncBuiltinESMExports } from 'node:module'
import { newId } from '../../lib/core/ids.ts'
import type { Clock } from './clock.ts'

/**
 * Time and chance as the simulation has them, in place of the process's own. They are replaced once,
 * and are as they were while no clock is set.
 */
let clock: Clock | undefined

const real = {
  Date: globalThis.Date,
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  clearTimeout: globalThis.clearTimeout,
  clearInterval: globalThis.clearInterval,
  random: Math.random,
  timeoutSignal: AbortSignal.timeout,
}

export const realNow = (): number => real.Date.now()
export const realSetTimeout = real.setTimeout

class VirtualDate extends real.Date {
  constructor(...values: []) {
    if (values.length === 0 && clock) super(clock.now())
    else super(...values)
  }
  static override now(): number {
    return clock ? clock.now() : real.Date.now()
  }
}

type Handle = { timer: Parameters<Clock['remove']>[0]; ref: () => Handle; unref: () => Handle }

const handleOf = (timer: Handle['timer']): Handle => {
  const handle: Handle = { timer, ref: () => handle, unref: () => handle }
  return handle
}

const clear = (handle: unknown): void => {
  if (clock && typeof handle === 'object' && handle !== null && 'timer' in handle)
    clock.remove((handle as Handle).timer)
  else real.clearTimeout(handle as never)
}

type Work = (...values: unknown[]) => void

export const replaceGlobals = (): void => {
  const timers = {
    setTimeout: (work: Work, delayMs = 0, ...values: unknown[]) =>
      clock
        ? handleOf(clock.add(delayMs, () => work(...values)))
        : real.setTimeout(work, delayMs, ...values),
    setInterval: (work: Work, everyMs = 1, ...values: unknown[]) =>
      clock
        ? handleOf(clock.add(everyMs, () => work(...values), everyMs))
        : real.setInterval(work, everyMs, ...values),
    clearTimeout: clear,
    clearInterval: clear,
  }
  Object.assign(globalThis, { Date: VirtualDate, ...timers })
  Math.random = () => (clock ? clock.random.next() : real.random())
  AbortSignal.timeout = delayMs => {
    if (!clock) return real.timeoutSignal.call(AbortSignal, delayMs)
    const controller = new AbortController()
    clock.add(delayMs, () =>
      controller.abort(new DOMException('The operation timed out.', 'TimeoutError')),
    )
    return controller.signal
  }
  replaceModules()
}

/** What is imported from Node's own modules: their exports are bound anew. */
const replaceModules = (): void => {
  const require = createRequire(import.meta.url)
  const promises = require('node:timers/promises')
  const realSleep = promises.setTimeout
  promises.setTimeout = async (delayMs: number, value: unknown, options: unknown) => {
    if (!clock) return realSleep(delayMs, value, options)
    await clock.sleep(delayMs)
    return value
  }
  const crypto = require('node:crypto')
  const { randomBytes, randomFillSync, randomUUID } = crypto
  crypto.randomBytes = (size: number) => {
    if (!clock) return randomBytes(size)
    const bytes = Buffer.alloc(size)
    clock.random.fill(bytes)
    return bytes
  }
  crypto.randomFillSync = (bytes: Uint8Array) => {
    if (!clock) return randomFillSync(bytes)
    refills += 1
    clock.random.fill(bytes)
    return bytes
  }
  crypto.randomUUID = () => (clock ? uuidOf(crypto.randomBytes(16)) : randomUUID())
  syncBuiltinESMExports()
}

const uuidOf = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

let refills = 0

/** From here on it is this clock's time; without one, the process's own. */
export const setClock = (next: Clock | undefined): void => {
  clock = next
  // Ids are made of randomness that is drawn ahead: what is left of it is of another run.
  for (const before = refills; next && refills === before; ) newId('task')
}
