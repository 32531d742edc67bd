import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SECRETS } from './stages.ts'
import { changeText, type Replaced, wrapExport } from './synth/change.ts'
import type { Request } from './synth/synthesis.ts'
import { ROOT, synthesize } from './synth/synthesize.ts'

// What is wrong before anything is made: a deploy says which and why, all by itself.

const folder = mkdtempSync(path.join(os.tmpdir(), 'handlers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A deploy by somebody whose secrets are set, but for what is asked. */
const errorsOf = async (asked: Partial<Request>): Promise<string> => {
  const secrets = { SettingsKeys: SECRETS.SettingsKeys, LinkKeys: SECRETS.LinkKeys }
  const { errors } = await synthesize({ stage: 'ada', secrets, ...asked })
  return errors.join('\n')
}

/** The route table, changed by some code. */
const withTable = (code: string): Replaced =>
  wrapExport(
    'functions/routes.ts',
    'routeTable',
    `original => async () => { const table = await original(); ${code} }`,
  )

/** A table of no more than a deploy needs, with one function whose module is what it is given. */
const withHandler = (name: string, source: string): Replaced => {
  const moduleOf = (file: string, text: string) => {
    writeFileSync(path.join(folder, `${file}.ts`), text)
    return JSON.stringify(path.relative(path.join(ROOT, 'functions'), path.join(folder, file)))
  }
  const sound = moduleOf('sound', 'export const handler = () => undefined\n')
  return withTable(`
    const needed = table.functions
      .filter(({ name }) => ['tick', 'park', 'sweep'].includes(name))
      .map(spec => ({ ...spec, module: ${sound} }))
    const added = { ...needed[0], name: '${name}', reach: [], module: ${moduleOf(name, source)} }
    return { functions: [...needed, added], routes: [], schedules: table.schedules }
  `)
}

describe.concurrent('a deploy stops, and says why,', () => {
  it('without its secrets: it names each, with the command that sets it', async () => {
    const errors = await errorsOf({ secrets: {} })
    for (const name of ['SettingsKeys', 'LinkKeys'])
      expect(errors).toContain(
        `${name} is not set: npx sst secret set --stage ada ${name} "v1:$(openssl rand -base64 32)"`,
      )
  })

  it('where the keys of a secret are malformed, and never says what it holds', async () => {
    const secrets = { SettingsKeys: 'v1:dG9vIHNob3J0', LinkKeys: SECRETS.LinkKeys }
    const errors = await errorsOf({ secrets })
    expect(errors).toMatch(/SettingsKeys.+"version:base64" pairs of 32 bytes/)
    expect(errors).not.toContain('dG9vIHNob3J0')
    expect(errors).not.toContain('LinkKeys')
  })

  it('where a variable can’t be used', async () => {
    const environment = { ESPALIER_EMAIL_SENDER: 'Ada <ada@example.com>' }
    expect(await errorsOf({ environment })).toContain(
      'ESPALIER_EMAIL_SENDER is "Ada <ada@example.com>"; it must be an address alone',
    )
  })

  it('where the stage makes a function’s name too long', async () => {
    const stage = 'a-stage-with-a-name-that-nobody-could-want'
    expect(await errorsOf({ stage })).toMatch(
      /The function "espalier-a-stage-with.+" has \d+ characters in its name; Lambda takes 64\. Shorten the stage/,
    )
  })

  it('where two routes clash', async () => {
    const replaced = withTable(`
      const route = { method: 'GET', path: '/api/v1/tasks/{other}', functionName: 'admin-keys' }
      return { ...table, routes: [...table.routes, route] }
    `)
    expect(await errorsOf({ replaced })).toMatch(
      /The routes "GET \/api\/v1\/tasks\/\{\w+\}" and "GET \/api\/v1\/tasks\/\{other\}" \(admin-keys\) answer the same requests/,
    )
  })

  it('where a tool is to touch what nobody knows', async () => {
    const replaced = changeText('functions/tools/media.ts', /touches: \[/, "touches: ['buckets', ")
    expect(await errorsOf({ replaced })).toMatch(
      /Tool "media".+"create_media", "touches" must be a list of: .*bucket/,
    )
  })

  it('where a function’s file is missing', async () => {
    const replaced = withTable(`
      const [first, ...others] = table.functions
      return { ...table, functions: [{ ...first, module: 'tools/nowhere' }, ...others] }
    `)
    expect(await errorsOf({ replaced })).toMatch(
      /The function "tool-.+" is to run functions\/tools\/nowhere\.ts, and there is no such file/,
    )
  })

  it('where a handler doesn’t bundle', async () => {
    const replaced = withHandler('broken', "export { handler } from './not-there.ts'\n")
    const errors = await errorsOf({ replaced, builds: 'all' })
    expect(errors).toContain('Could not resolve "./not-there.ts"')
    expect(errors).toMatch(/broken\.ts:1/)
  })

  it('where a module exports no handler', async () => {
    const replaced = withHandler('nameless', 'export const other = () => undefined\n')
    expect(await errorsOf({ replaced, builds: 'all' })).toMatch(
      /nameless.+exports no (?:function )?"handler"/,
    )
  })

  it('where sst.config.ts imports at its top, which SST forbids', async () => {
    const replaced = changeText(
      'sst.config.ts',
      'export default',
      "import { prefixOf } from './lib/deploy/names.ts'\nvoid prefixOf\nexport default",
    )
    expect(await errorsOf({ replaced })).toContain('SST allows no import at the top')
  })
})
