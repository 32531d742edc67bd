import { createClient } from '../scripts/demo/client.ts'
import { play, prepare, share } from '../scripts/demo/job.ts'
import { chooseScript } from '../scripts/demo/script.ts'
import type { startTestStack } from './stack.ts'

type TestStack = Awaited<ReturnType<typeof startTestStack>>

/** Plays the demo's job from its first request to its last; the root task as it then is. */
export const playMainJob = async (stack: TestStack) => {
  const silent = () => {}
  const stage = {
    client: createClient(stack.url, stack.adminKey),
    url: stack.url,
    script: chooseScript({}),
    timeline: { chapter: silent, tell: silent, figures: silent },
    activity: () => ({ running: stack.running(), waiting: stack.waiting() }),
  }
  const password = 'a password of the test'
  const { root, child } = await play(stage, await prepare(stage, password))
  await share(stage, child, password)
  return root
}
