import { idOf } from '../core/ids.ts'
import type { SETTING_TYPES } from './words.ts'

/** Where a setting may be edited: at every layer, not at the global one, or on the agent alone. */
export type SettingScope = 'any' | 'principal' | 'agent'

/**
 * What a setting's texts name: agents by their ids, which are shown with their names; skills by
 * their names; `raw` ones nothing.
 */
export type SettingResolution = 'agent' | 'skill' | 'raw'

export type SettingType = (typeof SETTING_TYPES)[number]

export type SettingValue = string | number | boolean | string[]

type Common = {
  /** What a person reads beside the field, and the model in `[Effective Configuration]`. */
  label: string
  description?: string
  /** The tool can't run while a required setting has no value. */
  required?: boolean
  scope?: SettingScope
  /** Shows the effective value to the model, at the end of the tool's description. */
  exposeToLlm?: boolean
  resolveAs?: SettingResolution
}

export type SettingDefinition = Common & {
  type: SettingType
  default?: SettingValue
  /** The values that a select or multi-select may take; absent, any text. */
  options?: readonly string[]
  /**
   * The parameter whose values this multi-select lists: models are offered those alone, with their
   * names, and a call with another is refused. While the setting is unset, any value will do.
   */
  enumFor?: string
}

type Value<Type extends SettingType> = Type extends 'number'
  ? number
  : Type extends 'toggle'
    ? boolean
    : Type extends 'multi-select'
      ? string[]
      : string

/** What a setting holds: of a list of options, one or some of them. */
type ValueOf<Definition extends SettingDefinition> = Definition extends {
  type: 'select' | 'multi-select'
  options: readonly (infer Option)[]
}
  ? Definition['type'] extends 'select'
    ? Option
    : Option[]
  : Value<Definition['type']>

export type Setting<Type extends SettingType, Options> = Options & { type: Type }

/** The settings that a tool's code gets: a value is there for sure if required or defaulted. */
export type SettingValues<Settings extends Record<string, SettingDefinition>> = {
  [Key in keyof Settings]: Settings[Key] extends { default: SettingValue } | { required: true }
    ? ValueOf<Settings[Key]>
    : ValueOf<Settings[Key]> | undefined
}

const builder =
  <Type extends SettingType>(type: Type) =>
  <
    const Options extends Common & {
      default?: Value<Type>
      options?: readonly string[]
      enumFor?: string
    },
  >(
    options: Options,
  ): Setting<Type, Options> => ({ ...options, type })

/** Declares a tool's settings: `settings: { timezone: setting.text({ label: 'Time zone' }) }`. */
export const setting = {
  text: builder('text'),
  textarea: builder('textarea'),
  number: builder('number'),
  /** Encrypted at rest, masked in every answer, never shown to a model. */
  password: builder('password'),
  select: builder('select'),
  multiSelect: builder('multi-select'),
  toggle: builder('toggle'),
}

/** A skill's name, as agentskills.io has it: 1 to 64 letters, digits and single hyphens within. */
export const SKILL_PATTERN = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/
const AgentId = idOf('agent')

/** One value's length at most, in characters: a layer's item stays far below 400 KB. */
export const MAX_VALUE_CHARS = 8_192
/** A password's at least: masking a shorter one would mask ordinary words, so none is taken. */
export const MIN_SECRET_CHARS = 4

/** What is wrong with a setting's value, or undefined. */
export const invalidValue = (definition: SettingDefinition, value: unknown): string | undefined => {
  const { type, options } = definition
  const texts = type === 'multi-select' ? value : [value]
  if (type === 'toggle') return typeof value === 'boolean' ? undefined : 'must be true or false.'
  if (type === 'number')
    return typeof value === 'number' && Number.isFinite(value) ? undefined : 'must be a number.'
  if (!Array.isArray(texts) || !texts.every(text => typeof text === 'string'))
    return type === 'multi-select' ? 'must be a list of texts.' : 'must be a text.'
  const text = texts.join('')
  if (text.length > MAX_VALUE_CHARS) return `must be at most ${MAX_VALUE_CHARS} characters long.`
  if (type === 'password' && text.trim().length < MIN_SECRET_CHARS)
    return `must be at least ${MIN_SECRET_CHARS} characters long, or it could not be kept out of what the tool says.`
  if (options && type.endsWith('select') && !texts.every(text => options.includes(text)))
    return `must be of: ${options.join(', ')}.`
  return unresolvable(definition, texts)
}

/** Why texts can't name what the setting says that they do, or undefined. */
const unresolvable = ({ resolveAs = 'raw' }: SettingDefinition, texts: string[]) => {
  switch (resolveAs) {
    case 'agent':
      return texts.every(text => AgentId.safeParse(text).success)
        ? undefined
        : 'must name agents by their ids, such as GET /api/v1/agents lists.'
    case 'skill':
      return texts.every(text => SKILL_PATTERN.test(text))
        ? undefined
        : `must name skills, each ${SKILL_PATTERN}.`
    case 'raw':
      return undefined
    default:
      return resolveAs satisfies never
  }
}
