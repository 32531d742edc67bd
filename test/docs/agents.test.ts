import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  DEFAULT_MAX_STEPS,
  DEFAULT_RETRY_AFTER_MINUTES,
  MAX_MAX_RETRIES,
  MAX_MAX_STEPS,
  MAX_RETRY_AFTER_MINUTES,
} from '../../lib/agent/limits.ts'
import { MAX_TEMPLATE_TOOLS, MAX_TEMPLATE_WRITES } from '../../lib/agent/template.ts'
import { AgentPatch } from '../../lib/http/agent-body.ts'
import { RATE_LIMITS } from '../../lib/principal/rate-limit.ts'
import { dataOf, startWorld, type World } from '../world.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const page = readFileSync(path.join(ROOT, 'docs/agents.md'), 'utf8')
const README_URL = 'http://127.0.0.1:8787'

const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    match => match[1] ?? '',
  )

let world: World
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'espalier-agents-'))
  world = await startWorld()
})
afterAll(async () => {
  await world.stop()
  await rm(directory, { recursive: true, force: true })
})

describe('the page on agents', () => {
  it('has commands that do what is said beside them', async () => {
    const script = blocks('sh')
      .join('\n')
      .replaceAll(README_URL, world.url)
      // Each answer that is shown stands on a line of its own.
      .replaceAll(/^(ask [^|\n]*?)( +#.*)?$/gm, '$1; echo')
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: directory,
      env: { ...process.env, KEY: world.adminKey },
    })
    const answers = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { data?: unknown; error?: { code: string } })
    expect(answers).toMatchObject([
      { data: [{ tool: 'calculator', enabled: true }, { tool: 'time' }] },
      { data: { max_steps: 20, version: 2 } },
      { error: { code: 'VERSION_MISMATCH' } },
      { data: { max_tokens: null, version: 3 } },
      { data: { overrides: { now: { requires_approval: true, decided_by: 'owner' } } } },
      { data: { overrides: { now: { requires_approval: true, decided_by: null } } } },
      { data: { dry_run: true, agent_id: null, name: 'Clerk' } },
      { data: { dry_run: false, tools: [{ tool_class: 'calculator' }, { tool_class: 'time' }] } },
      { data: { ok: true } },
      { data: { model: null } },
      { data: [{ name: 'Clerk' }] },
      { error: { code: 'LLM_CONFIGURATION_IN_USE' } },
    ])
  })

  it('shows a template that can be imported', async () => {
    const [template = ''] = blocks('json')
    const answer = await world.request('POST', '/api/v1/agent-templates/import', { body: template })
    expect(dataOf(answer)).toMatchObject({
      tools: [{ tool_class: 'time', settings: ['timezone'] }],
    })
  })

  it('names every field that can be changed, and the limits as they are', () => {
    for (const field of Object.keys(AgentPatch.shape)) expect(page).toContain(`\`${field}\``)
    for (const said of [
      `1 to ${MAX_MAX_STEPS}, ${DEFAULT_MAX_STEPS} unless said`,
      `0 to ${MAX_MAX_RETRIES} (0) and 1 to ${MAX_RETRY_AFTER_MINUTES.toLocaleString('en-US')} (${DEFAULT_RETRY_AFTER_MINUTES})`,
      `at most ${MAX_TEMPLATE_TOOLS} tools, and room for ${MAX_TEMPLATE_WRITES} writes`,
      `someone may ask for ${RATE_LIMITS.model.perMinute} a minute`,
    ])
      expect(page).toContain(said)
  })
})
