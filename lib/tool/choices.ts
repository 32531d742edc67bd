import type { Problem } from '../core/problems.ts'
import type { Tool } from './define.ts'
import type { PropertySchema } from './schema.ts'
import type { SettingResolution, SettingValue } from './setting.ts'

/** The values that a setting leaves a parameter to choose from. */
export type Choice = { setting: string; values: string[]; resolveAs: SettingResolution }
/** By the parameter's name. */
export type Choices = Record<string, Choice>

/** What the settings of a tool, as they stand, let its parameters be; one that is unset, anything. */
export const choicesOf = (
  tool: Pick<Tool, 'settings'>,
  values: Record<string, SettingValue | undefined>,
): Choices =>
  Object.fromEntries(
    Object.entries(tool.settings).flatMap(([key, { enumFor, label, resolveAs = 'raw' }]) => {
      const value = values[key]
      if (enumFor === undefined || !Array.isArray(value)) return []
      return [[enumFor, { setting: label, values: [...new Set(value)], resolveAs }]]
    }),
  )

/** What arguments say that their tool's settings don't let them say. */
export const choiceProblems = (choices: Choices, parameters: Record<string, unknown>): Problem[] =>
  Object.entries(choices).flatMap(([field, { setting, values }]) => {
    const chosen = Object.hasOwn(parameters, field) ? [parameters[field] ?? []].flat() : []
    if (chosen.every(value => values.includes(String(value)))) return []
    return [{ field, message: `must be of those under "${setting}": ${listed(values)}.` }]
  })

/** A parameter's schema with nothing but its choices; its description calls ids by `label`. */
export const withChoices = (
  property: PropertySchema,
  { setting, values, resolveAs }: Choice,
  label: (id: string) => string,
): PropertySchema => {
  const told = `From "${setting}": ${listed(resolveAs === 'agent' ? values.map(label) : values)}.`
  const description = [property.description, told].filter(text => text !== undefined).join(' ')
  // An enum without a value is none that JSON Schema knows: what then is asked for is refused.
  if (values.length === 0) return { ...property, description }
  return property.type === 'array'
    ? { ...property, items: { ...(property.items as object), enum: values }, description }
    : { ...property, enum: values, description }
}

const listed = (values: string[]): string => values.join(', ') || 'none'
