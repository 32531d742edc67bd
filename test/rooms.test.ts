import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

/** The rooms of `lib/`, bottom to top; a file imports from its own room or from one below. */
const ROOMS = [
  'core',
  'trace',
  'aws',
  'web',
  'data',
  'audit',
  'tool',
  'settings',
  'principal',
  'llm',
  'agent',
  'media',
  'notification',
  'call',
  'task',
  'workflow',
  'http',
  'deploy',
  'local',
]

const ROOT = path.join(import.meta.dirname, '..')
const TABLE = path.join('functions', 'routes.ts')

const filesBelow = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => path.relative(ROOT, path.join(entry.parentPath, entry.name)))

/** The project's own files that a file imports, in any of the language's forms. */
const importsOf = (file: string): string[] => {
  const source = readFileSync(path.join(ROOT, file), 'utf8')
  return [...source.matchAll(/(?:from|import)\s*\(?\s*['"`](\.{1,2}\/[^'"`]+)['"`]/g)].map(match =>
    path.join(path.dirname(file), match[1] ?? ''),
  )
}

const roomOf = (file: string): number => ROOMS.indexOf(file.split(path.sep)[1] ?? '')

describe('the rooms', () => {
  it('are all in the order', () => {
    const folders = readdirSync(path.join(ROOT, 'lib'), { withFileTypes: true })
    expect(
      folders
        .filter(entry => entry.isDirectory())
        .map(entry => entry.name)
        .sort(),
    ).toEqual([...ROOMS].sort())
  })

  it('import downwards only', () => {
    const upward = filesBelow('lib').flatMap(file =>
      importsOf(file)
        .filter(target => !target.startsWith(`lib${path.sep}`) || roomOf(target) > roomOf(file))
        .map(target => `${file} imports ${target}`),
    )
    expect(upward).toEqual([])
  })

  it('know nothing of the functions, and the functions nothing of the local runner', () => {
    const strays = filesBelow('functions').flatMap(file =>
      importsOf(file)
        .filter(
          target => !/^(lib|functions)[/\\]/.test(target) || /^lib[/\\](local|deploy)/.test(target),
        )
        // The table is no function, and says which of them share a route at the gateway.
        .filter(target => file !== TABLE || !target.startsWith(path.join('lib', 'deploy')))
        .map(target => `${file} imports ${target}`),
    )
    expect(strays).toEqual([])
  })
})
