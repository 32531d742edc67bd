import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs a file in a process of its own and reads what it prints last, a line of JSON. */
export const measureIn = async <Sample>(args: string[]): Promise<Sample> => {
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

export const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
