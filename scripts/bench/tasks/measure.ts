import { measureApproval } from './approval.ts'
import { type ChildFigures, measureChildren } from './children.ts'
import { type CostFigures, costOf } from './cost.ts'
import { openStage } from './stage.ts'
import { measureSteps, type StepFigures } from './steps.ts'
import type { Used } from './used.ts'

const TASKS = 8
const QUICK_TASKS = 2
const CHILDREN = [64, 256, 1_024]
const QUICK_CHILDREN = [16, 64]

export type TaskFigures = {
  node: string
  steps: StepFigures
  approval: Used
  children: ChildFigures
  cost: CostFigures
}

/** What tasks cost, in time, requests and money; all in one run, on one stack. */
export const measureTasks = async ({ quick }: { quick: boolean }): Promise<TaskFigures> => {
  const stage = await openStage()
  try {
    const steps = await measureSteps(stage, quick ? QUICK_TASKS : TASKS)
    const approval = await measureApproval(stage)
    const children = await measureChildren(stage, quick ? QUICK_CHILDREN : CHILDREN)
    const cost = costOf(steps.whole, steps)
    return { node: process.versions.node, steps, approval, children, cost }
  } finally {
    await stage.close()
  }
}
