import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'
import { PACKAGE_FILES } from '../../../lib/http/reference-page.ts'

// A deploy bundles a function and copies its files beside it; there is no folder of packages.

const ROOT = path.join(import.meta.dirname, '../../..')
const { functions } = await routeTable()
const spec = functions.find(({ name }) => name === 'admin-docs')

/** Prints what a bundled handler answers to a request for each path. */
const ASK = `
const [bundle, ...paths] = process.argv.slice(1)
const { handler } = await import(bundle)
const answers = []
for (const rawPath of paths) {
  const http = { method: 'GET', path: rawPath }
  const requestContext = { domainName: 'espalier.test', http }
  const event = { version: '2.0', rawPath, rawQueryString: '', headers: {}, requestContext }
  const { statusCode, headers, body } = await handler(event, { awsRequestId: 'test' })
  answers.push([rawPath, statusCode, headers['content-type'], body.length])
}
process.stderr.write(JSON.stringify(answers))
`

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'espalier-deploy-'))
  await build({
    entryPoints: [path.join(ROOT, 'functions', `${spec?.module}.ts`)],
    outfile: path.join(directory, 'functions', `${spec?.module}.mjs`),
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    mainFields: ['module', 'main'],
    conditions: ['module'],
  })
  for (const file of spec?.files ?? [])
    await cp(path.join(ROOT, 'node_modules', file), path.join(directory, 'node_modules', file))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

it('a function finds the files of packages that it names, and needs no others', async () => {
  const paths = [
    '/docs',
    '/docs/start.js',
    ...Object.keys(PACKAGE_FILES).map(file => `/docs/${file}`),
  ]
  const bundle = path.join(directory, 'functions', `${spec?.module}.mjs`)
  const options = { cwd: directory, env: { NODE_PATH: '' } }
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', ASK, bundle, ...paths],
    options,
  )
  const answers = JSON.parse(stderr) as [string, number, string, number][]
  expect(answers.map(([asked, status]) => [asked, status])).toEqual(paths.map(each => [each, 200]))
  for (const [, , type, length] of answers) {
    expect(type).toMatch(/^(text\/(html|css|javascript)|image\/png)/)
    expect(length).toBeGreaterThan(100)
  }
})

it('only a function that reads files is given any', () => {
  const given = functions.filter(({ files = [] }) => files.length > 0)
  expect(given.map(({ name }) => name)).toEqual(['admin-docs'])
})
