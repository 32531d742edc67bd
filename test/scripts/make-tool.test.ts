import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { listTool } from '../../scripts/make-tool/list.ts'

const ROOT = path.join(import.meta.dirname, '../..')
/** What the tree consists of, as far as making a tool and checking it need it. */
const COPIED = [
  ...['functions', 'lib', 'scripts', 'package.json', 'tsconfig.json', 'biome.json'],
  ...['vitest.config.ts', '.gitignore', 'test/functions/tools/run.ts', 'test/local-table.ts'],
]
const TOOL = 'functions/tools/lookup-order.ts'
const TEST = 'test/functions/tools/lookup-order.test.ts'
const INDEX = 'functions/tools/index.ts'

let copy = ''
beforeAll(async () => {
  copy = await mkdtemp(path.join(tmpdir(), 'espalier-make-tool-'))
  for (const entry of COPIED)
    await cp(path.join(ROOT, entry), path.join(copy, entry), { recursive: true })
  await symlink(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'))
})
afterAll(() => rm(copy, { recursive: true, force: true }))

const inCopy = (command: string, ...args: string[]) =>
  promisify(execFile)(command, args, { cwd: copy })
const bin = (name: string) => path.join(ROOT, 'node_modules/.bin', name)
const make = (...names: string[]) => inCopy(process.execPath, 'scripts/make-tool.ts', ...names)
const read = (file: string) => readFile(path.join(copy, file), 'utf8')

describe('a made tool', () => {
  let said = ''
  beforeAll(async () => {
    said = (await make('lookup_order')).stdout
  })

  it('is announced with its files and with what to do next', () => {
    for (const file of [TOOL, TEST, INDEX, 'docs/tools.md']) expect(said).toContain(file)
  })

  it('is in the list of tools, under its own name, beside all that were there', async () => {
    const before = await readFile(path.join(ROOT, INDEX), 'utf8')
    const line = "  lookup_order: () => import('./lookup-order.ts'),\n"
    expect((await read(INDEX)).replace(line, '')).toBe(before)
    const script = `import { getTool } from './lib/tool/registry.ts'
      import { tools } from './${INDEX}'
      process.stdout.write((await getTool(tools, 'lookup_order')).displayName)`
    const { stdout } = await inCopy(process.execPath, '--input-type=module', '-e', script)
    expect(stdout).toBe('Lookup order')
  })

  it('has a test that passes, and that fails once the tool does something else', async () => {
    const { stdout } = await inCopy(bin('vitest'), 'run', TEST)
    expect(stdout).toMatch(/3 passed/)
    const source = await read(TOOL)
    await writeFile(path.join(copy, TOOL), source.replace("'a pear', ", ''))
    await expect(inCopy(bin('vitest'), 'run', TEST)).rejects.toMatchObject({ code: 1 })
    await writeFile(path.join(copy, TOOL), source)
  })

  it('compiles', async () => {
    const files = [TOOL, TEST, INDEX]
    const config = { extends: './tsconfig.json', include: ['lib/**/*.d.ts'], files }
    await writeFile(path.join(copy, 'tsconfig.made.json'), JSON.stringify(config))
    await inCopy(bin('tsc'), '--noEmit', '-p', 'tsconfig.made.json')
  })

  it('is formatted and lints', async () => {
    await inCopy(bin('biome'), 'check', '--error-on-warnings', TOOL, TEST, INDEX)
  })

  it('is never overwritten', async () => {
    await writeFile(path.join(copy, TOOL), '// mine')
    await expect(make('lookup_order')).rejects.toMatchObject({
      code: 1,
      stderr: `There is a file ${TOOL} already. Take another name.\n`,
    })
    expect(await read(TOOL)).toBe('// mine')
  })
})

describe('a name', () => {
  let before: string[] = []
  const filesOf = async () =>
    Promise.all(
      ['functions/tools', 'test/functions/tools'].map(folder => readdir(path.join(copy, folder))),
    ).then(lists => lists.flat())
  beforeEach(async () => {
    before = await filesOf()
  })

  it.each([
    [['LookupInvoice'], 'Did you mean lookup_invoice?'],
    [['lookup-invoice'], 'Did you mean lookup_invoice?'],
    [['2nd_invoice'], 'Did you mean nd_invoice?'],
    [['../escape'], 'Did you mean escape?'],
    [['constructor'], 'not be "constructor"'],
    [['a'.repeat(65)], 'not one that models accept'],
    [['calculator'], 'There is a file functions/tools/calculator.ts already'],
    [['index'], 'There is a file functions/tools/index.ts already'],
    [[], 'Usage: npm run make:tool <name>'],
    [['one', 'two'], 'Usage: npm run make:tool <name>'],
    [['--help'], 'Usage: npm run make:tool <name>'],
  ])('that does not do is refused, and nothing is written: %j', async (names, reason) => {
    const index = await read(INDEX)
    await expect(make(...names)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(reason),
    })
    expect(await filesOf()).toEqual(before)
    expect(await read(INDEX)).toBe(index)
  })
})

describe('the list of tools', () => {
  const listOf = (...names: string[]) =>
    ['{', ...names.map(name => `  ${name}: () => import('./${name}.ts'),`), '}', ''].join('\n')

  it('stays sorted where it was, and is added to where it was not', () => {
    expect(listTool(listOf('a', 'c'), 'b', 'b')).toBe(listOf('a', 'b', 'c'))
    expect(listTool(listOf('a', 'c'), 'd', 'd')).toBe(listOf('a', 'c', 'd'))
    expect(listTool(listOf('c', 'a'), 'b', 'b')).toBe(listOf('c', 'a', 'b'))
  })

  it('has no name twice, and is not guessed at where it reads otherwise', () => {
    expect(() => listTool(listOf('a', 'c'), 'a', 'x')).toThrow('There is a tool "a" already')
    expect(() => listTool('export const tools = {}', 'a', 'a')).toThrow('lists no tools')
  })
})
