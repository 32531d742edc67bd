import { registerHooks } from 'node:module'
import type { Mutation } from './mutations.ts'

/** Where the rehearsal's model would come from, the simulation's own does. */
export const replaceModel = (): void => {
  const rehearsal = new URL('../../lib/llm/rehearsal.ts', import.meta.url).href
  const model = new URL('./model.ts', import.meta.url).href
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context)
      return resolved.url === rehearsal ? { ...resolved, url: model } : resolved
    },
  })
}

const ROOT = new URL('../../', import.meta.url).href

const broken = new Set<string>()

/** Loads one file of the platform with a fault in it. Throws where the file has changed since. */
export const mutate = ({ file, from, to }: Mutation): void => {
  // Asked for again, as where the first failing seed is told of, it is broken already.
  if (broken.has(file)) return
  broken.add(file)
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context)
      if (url !== ROOT + file) return loaded
      const source = String(loaded.source)
      if (source.split(from).length !== 2)
        throw new Error(`${file} does not hold what is to be broken, once: ${from}`)
      return { ...loaded, source: source.replace(from, () => to) }
    },
  })
}
