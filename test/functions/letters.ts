import * as z from 'zod'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'
import { world } from '../use-world.ts'

const runs: { text: string; sender: string }[] = []

export const probe = defineTool({
  name: 'probe',
  description: 'Sends letters, and keeps what it sent for the test.',
  settings: {
    sender: setting.text({ label: 'Sender', default: 'nobody' }),
    secret: setting.password({ label: 'Secret' }),
  },
  operations: {
    send: {
      description: 'Send a letter.',
      parameters: z.object({ text: z.string().min(1), copies: z.int().max(9).default(1) }),
      requiresApprovalByDefault: true,
      describe: ({ text, copies }) => `Send ${copies} of "${text}"`,
      execute: async ({ parameters, settings }) => {
        runs.push({ text: parameters.text, sender: settings.sender })
        return `Sent ${parameters.text}`
      },
    },
  },
})

/** A new agent with the probe, and a task of it that waits for the approval of one letter. */
export const waiting = async (text: string) => {
  const agent = await world.createAgent(['probe', 'time'])
  const taskId = await world.createTask(agent, `/probe send {"text": "${text}"}`)
  const [call] = await world.untilApproval(taskId)
  return { agent, taskId, call }
}

/** What the probe has sent with this text. */
export const sent = (text: string) => runs.filter(run => run.text === text)
