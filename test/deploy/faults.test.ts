import { describe, expect, it } from 'vitest'
import { SECRETS } from './stages.ts'
import { changeText, type Replaced, wrapExport } from './synth/change.ts'
import type { Request } from './synth/synthesis.ts'
import { synthesize } from './synth/synthesize.ts'

// What is wrong before anything is made: a deploy says which and why, all by itself.

const KEYS = { SettingsKeys: SECRETS.SettingsKeys, LinkKeys: SECRETS.LinkKeys }

/** A deploy by somebody whose secrets are set, but for what is asked. */
const errorsOf = async (asked: Partial<Request>): Promise<string> => {
  const { errors } = await synthesize({ stage: 'ada', secrets: KEYS, ...asked })
  return errors.join('\n')
}

/** The route table, changed by some code. */
const withTable = (code: string): Replaced =>
  wrapExport(
    'functions/routes.ts',
    'routeTable',
    `original => async () => { const table = await original(); ${code} }`,
  )

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

  it('where the bundler does, in its words', async () => {
    const replaced = wrapExport(
      'lib/deploy/prepare-bundles.ts',
      'prepareBundles',
      "() => async () => { throw new AppError('INVALID_DEFINITION', 'functions/tools/dice.ts exports no handler') }",
    )
    const { errors, resources } = await synthesize({ stage: 'ada', secrets: KEYS, replaced })
    expect(errors.join()).toContain('functions/tools/dice.ts exports no handler')
    expect(resources.filter(({ type }) => type.startsWith('aws:'))).toEqual([])
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
