import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_MAX_CONCURRENT, MAX_SPAWN_BATCH, tool } from '../../functions/tools/subagents.ts'
import { MAX_DEPTH } from '../../lib/task/create.ts'
import { ATTENTION_PATIENCE_MS } from '../../lib/workflow/attention.ts'
import { startWorld, type TaskView, type World } from '../world.ts'
import { readPage, runCommands } from './page.ts'

const page = readPage('sub-agents.md')
const words = page.replaceAll(/\s+/g, ' ')

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

describe('the page on sub-agents', () => {
  it('has commands that do what is said beside them', async () => {
    const { data } = JSON.parse(await runCommands(page, world)) as { data: TaskView }
    const answer = JSON.parse(data.tool_calls[0]?.result?.content ?? '{}')
    expect(data).toMatchObject({ status: 'COMPLETED', usage: { steps: 4 } })
    expect(answer.task_ids).toHaveLength(2)
    expect(data).toMatchObject({ spawned_sub_task_ids: answer.task_ids })
  })

  it('has the operations and the figures of the code', () => {
    for (const name of Object.keys(tool.operations)) expect(page).toContain(`\`${name}\``)
    expect(words).toContain(`\`subagents\`: 1 to ${MAX_SPAWN_BATCH} of`)
    expect(words).toContain(`\`max_concurrent\` (${DEFAULT_MAX_CONCURRENT})`)
    expect([words.includes('nest three deep'), MAX_DEPTH]).toEqual([true, 3])
    expect([words.includes('five minutes'), ATTENTION_PATIENCE_MS]).toEqual([true, 300_000])
  })
})
