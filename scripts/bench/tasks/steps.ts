import { type BareRun, runBare } from './bare-loop.ts'
import type { Stage } from './stage.ts'
import { ranAt } from './tool.ts'
import { each, less, type Used } from './used.ts'

/** The task: so many steps with one call each, and a last one that answers. */
export const STEPS = 20

/** A script of so many steps, none like the one before it. */
export const script = (steps: number): string =>
  Array.from({ length: steps }, (_, index) => `/bench read {"number": ${index}}`).join('\n\n')

export type Compared = { own: number; bare: number; ratio: number }

export type StepFigures = {
  steps: number
  tasks: number
  p50Ms: Compared
  p75Ms: Compared
  /** One step more, and all that a task of one step is beside it. */
  perStep: Used
  perTask: Used
  /** The whole task, and the bare loop around the same script. */
  whole: Used
  bare: Pick<BareRun, 'ms' | 'bytes'>
}

/** Time and requests of a step: tasks of twenty, and the bare loop in turns with them. */
export const measureSteps = async (stage: Stage, tasks: number): Promise<StepFigures> => {
  const run = async (steps: number): Promise<number[]> => {
    const id = await stage.start(script(steps))
    await stage.until(id, 'COMPLETED')
    return ranAt.get(id) ?? []
  }
  // What is loaded and compiled with the first steps is no step's own.
  await run(STEPS)
  await runBare(script(STEPS))
  const own: number[] = []
  const bare: number[] = []
  const bareRuns: BareRun[] = []
  const uses: Used[] = []
  for (let task = 0; task < tasks; task++) {
    uses.push(await stage.using(async () => own.push(...between(await run(STEPS)))))
    const bareRun = await runBare(script(STEPS))
    bareRuns.push(bareRun)
    bare.push(...between(bareRun.ranAt))
  }
  const whole = uses.toSorted((a, b) => a.gbSeconds - b.gbSeconds)[Math.floor(tasks / 2)] as Used
  const single = await stage.using(() => run(1))
  const perStep = each(less(whole, single), STEPS - 1)
  const [firstBare] = bareRuns.toSorted((a, b) => a.ms - b.ms)
  return {
    steps: STEPS,
    tasks,
    p50Ms: compare(own, bare, 0.5),
    p75Ms: compare(own, bare, 0.75),
    perStep,
    perTask: less(single, perStep),
    whole,
    bare: { ms: firstBare?.ms ?? Number.NaN, bytes: firstBare?.bytes ?? Number.NaN },
  }
}

const between = (times: number[]): number[] =>
  times.slice(1).map((time, index) => time - (times[index] as number))

const compare = (own: number[], bare: number[], share: number): Compared => {
  const [one, other] = [quantile(own, share), quantile(bare, share)]
  return { own: one, bare: other, ratio: one / other }
}

/** The value that this share of all is below: 0.5 is the median. */
export const quantile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[
    Math.min(values.length - 1, Math.floor(values.length * share))
  ] ?? Number.NaN
