import type { Run } from './run.ts'

let current: Run | undefined

/** The run that is going on: functions are loaded once, and serve one run after another. */
export const currentRun = (): Run => {
  if (!current) throw new Error('No run is going on.')
  return current
}

export const setCurrentRun = (run: Run | undefined): void => {
  current = run
}
