import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { startModelServer } from './model-server.ts'

const DEMO = path.join(import.meta.dirname, '../../scripts/demo.ts')
const run = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)(process.execPath, [DEMO, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  })

type Line = {
  milliseconds: number
  actor?: string
  event?: string
  text?: string
  status?: string
  running?: number
  waiting?: number
  task_id?: string
}

describe('the demo', () => {
  let lines: Line[] = []
  beforeAll(async () => {
    const { stdout } = await run(['--json'])
    lines = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
  })

  const moves = (actor: string) =>
    lines.flatMap(line => (line.actor === actor && line.event === 'task-moved' ? line.status : []))

  it('has the planner wait for a decision, then for the writer, and complete', () => {
    const seen = moves('planner').filter(status => status !== 'RUNNING' && status !== 'QUEUED')
    expect(seen).toEqual(['PENDING_APPROVAL', 'AWAITING_SUB_AGENTS', 'COMPLETED'])
  })

  it('has the writer wait for a decision and complete', () => {
    const seen = moves('writer').filter(status => status !== 'RUNNING' && status !== 'QUEUED')
    expect(seen).toEqual(['PENDING_APPROVAL', 'COMPLETED'])
  })

  it('waits in executions, with nothing running', () => {
    const waits = lines.filter(line => line.event === 'approval-waits')
    expect(waits.map(({ running, waiting }) => ({ running, waiting }))).toEqual([
      { running: 0, waiting: 1 },
      { running: 0, waiting: 2 },
    ])
  })

  it('gives the planner its answer once', () => {
    const answers = lines.filter(
      line => line.event === 'tool-answered' && line.text?.startsWith('sub_agent'),
    )
    expect(answers).toHaveLength(1)
    expect(answers[0]?.text).toContain('public_url')
  })

  it('opens the link until it is revoked, and finds the password nowhere', () => {
    const text = lines.map(line => line.text).join('\n')
    expect(text).toContain('opens the link without a key: 200')
    expect(text).toContain('# A note, reviewed by the operator')
    expect(text).toContain('tries the link again: 404')
    expect(text).toContain('holds the password nowhere in the clear')
  })

  it('ends with what the job cost', () => {
    expect(lines.at(-1)).toMatchObject({ event: 'job-cost', steps: 6, tool_calls: 5 })
  })
})

describe('the demo with an option that it does not have', () => {
  it('says which ones there are, and fails', async () => {
    await expect(run(['--jsno'])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Usage: npm run demo [-- --json]'),
    })
  })
})

describe('the demo with a model', () => {
  it('plays the same job with a provider, whose key stays between the two', async () => {
    const key = 'sk-a-key-for-the-model-server'
    const server = await startModelServer(key)
    const { stdout, stderr } = await run(['--json'], {
      ESPALIER_MODEL: 'openai-compatible/scripted',
      ESPALIER_MODEL_BASE_URL: server.url,
      OPENAI_COMPATIBLE_API_KEY: key,
    })
    await server.close()
    expect(stdout).toContain('# A note, reviewed by the operator')
    expect(stdout).toContain('tries the link again: 404')
    expect(server.refused).toEqual([])
    expect(server.seen).toHaveLength(6)
    expect(stdout + stderr + JSON.stringify(server.seen)).not.toContain(key)
  })

  it('says which key is missing, and fails', async () => {
    await expect(run([], { ESPALIER_MODEL: 'openai/a-model' })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('OPENAI_API_KEY must hold a key'),
    })
  })

  it('says what a model must look like, and fails', async () => {
    await expect(run([], { ESPALIER_MODEL: 'gpt' })).rejects.toMatchObject({ code: 1 })
  })
})
