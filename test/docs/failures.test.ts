import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { ESTIMATED_OUTPUT_TOKENS } from '../../lib/llm/estimate.ts'
import { MAX_TREE_STEPS } from '../../lib/task/ledger.ts'
import { STOPPED_ROUNDS } from '../../lib/workflow/loop.ts'
import { MAX_REASKS } from '../../lib/workflow/model-step.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8')
const WORKFLOW = path.join(ROOT, 'lib/workflow')

/** The codes that the state machine's own files end tasks with. */
const codesIn = (source: string): string[] =>
  [...source.matchAll(/(?:\b(?:fail|stop)\(\s*(?:\w+,\s*)?|\bcode: )'([A-Z_]+)'/g)].map(
    match => match[1] ?? '',
  )

describe('the page on the HTTP API', () => {
  const [, table = ''] = read('docs/http-api.md').split('## Why a task has failed')

  it('names every code that a task fails with', () => {
    const own = readdirSync(WORKFLOW)
      .filter(file => file.endsWith('.ts'))
      .flatMap(file => codesIn(readFileSync(path.join(WORKFLOW, file), 'utf8')))
    expect(own).toEqual(expect.arrayContaining(['MAX_STEPS', 'DOOM_LOOP', 'AGENT_GONE']))
    const ofModels = [
      'RATE_LIMIT',
      'SERVER_OVERLOADED',
      'SERVER_ERROR',
      'GATEWAY_ERROR',
      'AUTH_ERROR',
      'LLM_TIMEOUT',
      'BAD_REQUEST',
      'UNKNOWN',
    ]
    for (const code of [...own, ...ofModels]) expect(table).toContain(`\`${code}\``)
  })
})

describe('the page on agents', () => {
  it('names the limits as they are', () => {
    const page = read('docs/agents.md').replaceAll('\n', ' ')
    const told = (number: number) => number.toLocaleString('en-US')
    for (const said of [
      `| ${told(MAX_TREE_STEPS)} steps`,
      `| ${STOPPED_ROUNDS} steps with the same calls and answers`,
      `usual answer's ${told(ESTIMATED_OUTPUT_TOKENS)} tokens`,
    ])
      expect(page).toContain(said)
    expect(MAX_REASKS).toBe(2)
    expect(page).toContain('(twice at most)')
  })
})
