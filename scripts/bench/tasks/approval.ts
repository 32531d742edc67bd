import { callIdAt } from '../../../lib/call/tool-call.ts'
import type { Stage } from './stage.ts'
import { script } from './steps.ts'
import { less, plus, type Used } from './used.ts'

/**
 * What it is to ask a person: a task whose one call waits, its approval over HTTP and its going on,
 * less a task whose one call just runs.
 */
export const measureApproval = async (stage: Stage): Promise<Used> => {
  const ungated = await stage.using(async () => {
    await stage.until(await stage.start(script(1)), 'COMPLETED')
  })
  const { id, used: asking } = await waiting(stage)
  const call = await stage.callOf(callIdAt(id, 1, 0))
  const { digest } = call
  if (digest === null) throw new Error(`${call.id} has no digest to approve.`)
  const goingOn = await stage.using(async () => {
    await stage.approve(call.id, digest)
    await stage.until(id, 'COMPLETED')
  })
  return less(plus(asking, goingOn), ungated)
}

const waiting = async (stage: Stage) => {
  const ids: Awaited<ReturnType<Stage['start']>>[] = []
  const used = await stage.using(async () => {
    const id = await stage.start('/bench ask {"number": 0}')
    ids.push(id)
    await stage.until(id, 'PENDING_APPROVAL')
  })
  const [id] = ids
  if (!id) throw new Error('No task was started.')
  return { id, used }
}
