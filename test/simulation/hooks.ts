import { registerHooks } from 'node:module'

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
