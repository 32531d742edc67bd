import type { Resource, Synthesis } from '../synth/synthesis.ts'

/** Where people read what a thing is: no secret's value belongs there, marked or not. */
const SHOWN = /^(?:name|description|comment|tags|handler|bucket|role|statementId)(?:\.|$)/

/**
 * Where a secret's value is without being marked as one: in the stack's state it would be there to
 * read. `values` are the secrets, and what is made from them.
 */
export const secretProblems = (
  { resources, outputs }: Synthesis,
  values: Record<string, string>,
): string[] => [
  ...resources.flatMap(resource => inResource(resource, values)),
  ...Object.keys(values).flatMap(secret =>
    JSON.stringify(outputs).includes(values[secret] ?? '') ? [`The outputs hold ${secret}`] : [],
  ),
]

const inResource = (resource: Resource, values: Record<string, string>): string[] =>
  texts(resource.inputs).flatMap(({ at, text }) =>
    Object.entries(values).flatMap(([secret, value]) => {
      if (!text.includes(value)) return []
      const where = `${resource.name} (${resource.type}) holds ${secret} in ${at}`
      if (SHOWN.test(at)) return [where]
      const isMarked = resource.secrets.some(path => at === path || at.startsWith(`${path}.`))
      return isMarked ? [] : [`${where}, which is not marked as a secret`]
    }),
  )

/** Every text of a value with its path; a key may hold one too. */
const texts = (value: unknown, at = ''): { at: string; text: string }[] => {
  if (typeof value === 'string') return [{ at, text: value }]
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, each]) => {
    const path = at === '' ? key : `${at}.${key}`
    return [{ at: path, text: key }, ...texts(each, path)]
  })
}

/** The secrets that a synthesis knows of by name, and those without a value that it must have. */
export const secretNames = ({ resources }: Synthesis): string[] =>
  resources.filter(({ type }) => type === 'sst:sst:Secret').map(({ name }) => name)
