import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Id } from '../../lib/core/ids.ts'
import { MAX_CHANGES, MAX_LAYER_BYTES } from '../../lib/settings/change.ts'
import { MAX_VALUE_CHARS, MIN_SECRET_CHARS, setting } from '../../lib/tool/setting.ts'
import { startWorld, type World } from '../world.ts'
import { tool as letters } from './letters.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const page = readFileSync(path.join(ROOT, 'docs/settings.md'), 'utf8')
const README_URL = 'http://127.0.0.1:8787'

/** The page's blocks in one language, also those within a list. */
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\``, 'gm'))].map(
    match => match[1] ?? '',
  )
const shell = (script: string, env: Record<string, string> = {}) =>
  promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: ROOT,
    env: { ...process.env, ...env },
  })

let world: World
let agent: Id<'agent'>
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'espalier-settings-'))
  world = await startWorld([letters], { directory })
  agent = await world.createAgent(['letters'])
})
let isOpen = true
const close = async () => {
  if (isOpen) await world.close()
  isOpen = false
}
afterAll(async () => {
  await close()
  await rm(directory, { recursive: true, force: true })
})

describe('the page on settings', () => {
  it('shows a tool that compiles, and does what is said of it', async () => {
    expect(blocks('ts')).toEqual([readFileSync(path.join(ROOT, 'test/docs/letters.ts'), 'utf8')])
    await world.setSettings(agent, 'letters', { token: 'a-secret', readers: [agent], copies: 2 })
    const run = (reader: string) => world.run(agent, 'letters.send', { reader })
    expect((await run(agent)).body.data).toMatchObject({
      content: `Sent 2 on white paper to ${agent}.`,
    })
    expect((await run('anyone')).body.error?.code).toBe('VALIDATION_ERROR')
  })

  it('has commands that read, change, remove and list the changes', async () => {
    const script = blocks('sh')
      .slice(0, 2)
      .join('\n')
      .replaceAll(README_URL, world.url)
      .replaceAll(/^(ask .*?)( +#.*)?$/gm, '$1; echo')
    const { stdout } = await shell(script, { KEY: world.adminKey, AGENT: agent })
    const answers = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { data: never })
    const timezones = answers
      .slice(0, 5)
      .map(({ data }) => (data as { settings: Record<string, unknown> }).settings.timezone)
    const set = { value: 'Europe/Rome', source: 'agent' }
    expect(timezones).toMatchObject([set, set, set, { source: 'default' }, { source: 'default' }])
    const [shown = ''] = blocks('json')
    expect(Object.keys(timezones[1] as object)).toEqual(
      expect.arrayContaining(Object.keys(JSON.parse(shown))),
    )
    const entries = (answers[5]?.data ?? []) as { action: string; field: string }[]
    expect(entries.slice(0, 2)).toMatchObject([
      { action: 'setting-removed', field: 'time.timezone' },
      { action: 'setting-changed', field: 'time.timezone' },
    ])
  })

  it('names every type and option, and the limits as they are', () => {
    for (const type of Object.keys(setting)) expect(page).toContain(`\`${type}\``)
    const number = (value: number) => value.toLocaleString('en-US')
    expect(page).toMatch(new RegExp(`a value +\\| ${number(MAX_VALUE_CHARS)} characters`))
    expect(page).toContain(`${MAX_CHANGES}: each has its entry`)
    expect(page).toContain(`${MAX_LAYER_BYTES / 1024} KiB`)
    expect(page).toContain(`a text of ${MIN_SECRET_CHARS} characters or more`)
  })

  it('has steps of a rotation after which all opens, and the old key opens nothing', async () => {
    await close()
    const file = path.join(directory, 'secrets.json')
    const change = async (from: RegExp, to: string) =>
      writeFile(file, (await readFile(file, 'utf8')).replace(from, to))
    const [, make = ''] = /`(node -p .*?)`/.exec(page) ?? []
    const { stdout: key } = await shell(make)
    expect(key).toMatch(/^v2:\S{44}\n$/)
    await change(/("settingsKeys": ")/, `$1${key.trim()},`)
    const command = blocks('sh').at(-1)?.replace('.espalier', directory) ?? ''
    const run = () => shell(command, { ESPALIER_TABLE: '' })
    const rotated = await run()
    expect(rotated.stdout).toContain('1 of 1 encrypted values are now of the version "v2".')
    expect(rotated.stdout).toContain('"v1" encrypts nothing any more')
    await change(/,v1:/, ',lasting:')
    // It would fail if anything were left that the one version there is doesn't open.
    const { stdout } = await run()
    expect(stdout).toContain('There is one version, "v2".')
    expect(stdout).toContain('1 of 1 encrypted values are now of the version "v2".')
  })
})
