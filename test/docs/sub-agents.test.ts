import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_MAX_CONCURRENT, MAX_SPAWN_BATCH, tool } from '../../functions/tools/subagents.ts'
import { MAX_DEPTH } from '../../lib/task/create.ts'
import { ATTENTION_PATIENCE_MS } from '../../lib/workflow/attention.ts'
import { startWorld, type TaskView, type World } from '../world.ts'

const page = readFileSync(path.join(import.meta.dirname, '../../docs/sub-agents.md'), 'utf8')
const words = page.replaceAll(/\s+/g, ' ')

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

describe('the page on sub-agents', () => {
  it('has commands that do what is said beside them', async () => {
    const script = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
      .map(([, block]) => block)
      .join('\n')
      .replaceAll('http://127.0.0.1:8787', world.url)
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
      env: { ...process.env, KEY: world.adminKey },
    })
    const { data } = JSON.parse(stdout) as { data: TaskView }
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
