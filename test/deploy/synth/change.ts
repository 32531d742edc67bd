import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from './synthesize.ts'

// Other contents for files of the project, which a synthesis reads in their place.

export type Replaced = Record<string, string>

/** A file with another text in one place. */
export const changeText = (file: string, from: string | RegExp, to: string): Replaced => {
  const source = sourceOf(file)
  const changed = source.replace(from, () => to)
  if (changed === source) throw new Error(`${file} has nothing like ${from} to change.`)
  return { [file]: changed }
}

/** A file whose export is what `code`, a function of the original, makes of it. */
export const wrapExport = (file: string, name: string, code: string): Replaced => {
  const declaration = `export const ${name} `
  const source = sourceOf(file)
  if (!source.includes(declaration)) throw new Error(`${file} exports no const ${name}.`)
  const original = source.replace(declaration, `const ${name}Before `)
  return { [file]: `${original}\nexport const ${name} = (${code})(${name}Before)\n` }
}

const sourceOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')
