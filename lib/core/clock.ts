/** Where the time comes from. Injected wherever code decides by time, so that tests can set it. */
export type Clock = { now: () => Date }

export const systemClock: Clock = { now: () => new Date() }

/** The clock's time as ISO 8601 in UTC with milliseconds, the form every stored time has. */
export const isoNow = (clock: Clock = systemClock): string => clock.now().toISOString()

/** A time `milliseconds` from now, as ISO 8601 in UTC. */
export const isoIn = (milliseconds: number, clock: Clock = systemClock): string =>
  new Date(clock.now().getTime() + milliseconds).toISOString()
