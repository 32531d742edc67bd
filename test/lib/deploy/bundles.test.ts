import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'
import { setLogSink } from '../../../lib/core/log.ts'
import { BUDGETS, budgetOf, USUAL_BUDGET } from '../../../lib/deploy/budget.ts'
import { deployedModules } from '../../../lib/deploy/bundle.ts'
import { type Manifest, makeBundles } from '../../../lib/deploy/make-bundles.ts'
import { narrowed } from '../../../lib/deploy/narrow.ts'
import { permissionsOf } from '../../../lib/deploy/permissions.ts'
import { BUNDLE_ENTRY } from '../../../lib/deploy/prepare-bundles.ts'
import { playMainJob } from '../../main-job.ts'
import { startTestStack } from '../../stack.ts'
import { targetsOf } from './iam.ts'

const table = await routeTable()
const modules = deployedModules(table)
let directory: string
let manifest: Manifest
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'bundles-'))
  manifest = await makeBundles(table, directory)
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const bundleOf = (module: string) => {
  const found = manifest[module]
  if (!found) throw new Error(`There is no bundle of ${module}.`)
  return found
}
const statementsOf = (module: string) =>
  modules
    .filter(deployed => deployed.module === module)
    .flatMap(({ functions }) => functions.map(spec => permissionsOf(spec, targetsOf(spec.name))))
    .flat()

describe.each(modules.map(({ module }) => module))('the bundle of %s', module => {
  it('keeps to its budget', () => {
    const { startBytes, bytes } = bundleOf(module)
    const { startKiB, wholeKiB } = budgetOf(module)
    expect(startBytes / 1024).toBeLessThanOrEqual(startKiB)
    expect(bytes / 1024).toBeLessThanOrEqual(wholeKiB)
  })

  it('asks AWS for nothing that no role of its functions allows', () => {
    const allowed = statementsOf(module).flatMap(({ actions }) => actions)
    // A role is asked for what is in a transaction, and not for it.
    const asked = bundleOf(module).actions.filter(each => each !== 'dynamodb:TransactWriteItems')
    expect(asked.filter(action => !allowed.includes(action))).toEqual([])
  })

  it('leaves its roles nothing that it never asks for', () => {
    const { actions } = bundleOf(module)
    const statements = narrowed(statementsOf(module), actions)
    const left = statements.flatMap(statement => statement.actions)
    const transacts = actions.includes('dynamodb:TransactWriteItems')
    const never = left.filter(
      action =>
        !/^(logs|sqs):/.test(action) &&
        !actions.includes(action) &&
        !(transacts && /^dynamodb:(Put|Update|Delete|ConditionCheck)Item$/.test(action)),
    )
    expect(never).toEqual([])
    expect(statements.filter(statement => statement.actions.length === 0)).toEqual([])
  })

  it('holds none of the SDK’s clients, no languages of zod, and nothing of the local runner', () => {
    const strange = bundleOf(module).inputs.filter(file =>
      /@aws-sdk\/client-|zod\/v4\/locales\/(?!(?:en|index)\.js)|^lib\/local\/|^scripts\/|^test\//.test(
        file,
      ),
    )
    expect(strange).toEqual([])
  })
})

it('every budget is of a function that there is, and larger than the usual one', () => {
  for (const [module, { wholeKiB }] of Object.entries(BUDGETS)) {
    expect(manifest).toHaveProperty([module])
    expect(wholeKiB).toBeGreaterThan(USUAL_BUDGET.wholeKiB)
  }
})

it('a function that only looks at the table can change none of it', () => {
  expect(bundleOf('admin/public-media').actions).not.toContain('dynamodb:PutItem')
  expect(bundleOf('workflow/park').actions).toEqual([
    'dynamodb:UpdateItem',
    'states:SendTaskSuccess',
  ])
})

it('the tick holds declarations of tools, and none of what runs them', () => {
  const { inputs } = bundleOf('workflow/tick')
  expect(inputs).toContain('functions/tools/calculator.ts')
  expect(
    inputs.filter(file => /node_modules\/(mathjs|unpdf|linkedom|temporal)/.test(file)),
  ).toEqual([])
})

it('the bundles do the main job from its first request to its last', async () => {
  vi.stubEnv('ESPALIER_LOG_LEVEL', 'error')
  setLogSink(() => {})
  const stack = await startTestStack({
    load: module => import(pathToFileURL(path.join(directory, module, `${BUNDLE_ENTRY}.mjs`)).href),
  })
  try {
    expect((await playMainJob(stack)).status).toBe('COMPLETED')
    for (const at of ['/api/v1/tools', '/api/v1/openapi.json', '/docs', '/api/v1/audit'])
      expect((await stack.request('GET', at)).status).toBe(200)
  } finally {
    await stack.stop()
  }
})

describe('what can not be deployed is said, with the file', () => {
  const broken = async (text: string): Promise<string> => {
    const folder = path.join(directory, 'broken')
    await mkdir(folder, { recursive: true })
    const file = path.join(folder, 'broken')
    await writeFile(`${file}.ts`, text)
    const module = path.relative(path.resolve('functions'), file)
    const [first] = table.functions
    if (!first) throw new Error('There is no function.')
    const one = { ...table, functions: [{ ...first, module }] }
    return makeBundles(one, path.join(folder, 'out')).then(
      () => 'it was',
      (error: Error) => error.message,
    )
  }

  it('where it imports what there is not', async () => {
    expect(await broken("export { handler } from './not-there.ts'\n")).toMatch(
      /broken\.ts can not be bundled: .*\n.*broken\.ts:1:\d+: ERROR: Could not resolve "\.\/not-there\.ts"/,
    )
  })

  it('where it exports no handler', async () => {
    expect(await broken('export const other = () => undefined\n')).toMatch(
      /broken\.ts exports no handler/,
    )
  })
})

it('a tool that imports for its declaration what a deploy leaves out is told where to', async () => {
  const tick = path.join(directory, 'workflow/tick')
  const files = await readdir(tick)
  const texts = await Promise.all(files.map(file => readFile(path.join(tick, file), 'utf8')))
  expect(texts.join('\n')).toContain(
    'What more than an operation itself needs, import at the top of functions/tools/calculator.ts.',
  )
})
