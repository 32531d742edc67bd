import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tool as askUser } from '../../functions/tools/ask-user.ts'
import { approvalExpiry } from '../../lib/call/decision.ts'
import { MAX_TIMEOUT_SECONDS as MAX_QUESTION_SECONDS } from '../../lib/call/question.ts'
import { MAX_RUNS } from '../../lib/call/receipt.ts'
import { statesBefore, TaskStatus } from '../../lib/task/task.ts'
import { MAX_AWAITED_SECONDS, MAX_OPERATION_SECONDS } from '../../lib/tool/options.ts'
import { MAX_CALLS_PER_STEP } from '../../lib/workflow/conversation.ts'
import { MAX_MODEL_FAILURES } from '../../lib/workflow/outcome.ts'
import { MAX_CALLS_AT_ONCE } from '../../lib/workflow/step-calls.ts'
import { startWorld, type World } from '../world.ts'
import { readPage, runCommands } from './page.ts'

const page = readPage('tasks.md')
const words = page.replaceAll(/\s+/g, ' ')

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

describe('the page on tasks', () => {
  it('has commands that do what is said beside them', async () => {
    const { data } = JSON.parse(await runCommands(page, world)) as { data: { type: string }[] }
    expect(data.map(({ type }) => type)).toEqual([
      ...['created', 'waiting', 'completed', 'followed-up', 'waiting'],
      ...['aborted', 'continued', 'completed'],
    ])
  })

  it('has the table of moves', () => {
    for (const from of TaskStatus.options) {
      const row = new RegExp(`^\\| \`${from}\` +\\|([^|]*)\\|$`, 'm').exec(
        page.slice(page.indexOf('Every legal move')),
      )
      const told = [...(row?.[1] ?? 'no row').matchAll(/`(\w+)`/g)].map(([, to]) => to)
      const legal = TaskStatus.options.filter(to => statesBefore(to).includes(from))
      expect(told.sort(), from).toEqual(legal.sort())
    }
  })

  it('has the figures of the code', () => {
    const clock = { now: () => new Date(0) }
    expect(words).toContain(
      `after ${Date.parse(approvalExpiry(clock)) / 3_600_000} hours it expires`,
    )
    expect(words).toContain(`waits for ${askUser.settings.timeout_minutes?.default} minutes`)
    expect([words.includes('seven days'), MAX_QUESTION_SECONDS]).toEqual([true, 7 * 86_400])
    expect(words).toContain(`\`timeoutSeconds\` above ${MAX_AWAITED_SECONDS}`)
    expect(words).toContain(`longer than ${MAX_AWAITED_SECONDS} seconds`)
    expect(words).toContain(`up to ${MAX_OPERATION_SECONDS} seconds`)
    expect(words).toContain(`A step makes at most ${MAX_CALLS_PER_STEP}.`)
    expect([words.includes('side by side, eight at most'), MAX_CALLS_AT_ONCE]).toEqual([true, 8])
    expect([words.includes('three times at most'), MAX_RUNS]).toEqual([true, 3])
    expect([words.includes('tried again soon, three times'), MAX_MODEL_FAILURES - 1]).toEqual([
      true,
      3,
    ])
  })
})
