/** Where a setting may be edited: at every layer, not at the global one, or on the agent alone. */
export type SettingScope = 'any' | 'principal' | 'agent'

/** What the ids in a setting's value name; `raw` values are shown as they are. */
export type SettingResolution = 'agent' | 'skill' | 'raw'

export type SettingType =
  | 'text'
  | 'textarea'
  | 'number'
  | 'password'
  | 'select'
  | 'multi-select'
  | 'toggle'

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
}

type Value<Type extends SettingType> = Type extends 'number'
  ? number
  : Type extends 'toggle'
    ? boolean
    : Type extends 'multi-select'
      ? string[]
      : string

export type Setting<Type extends SettingType, Options> = Options & { type: Type }

/** The settings that a tool's code gets: a value is there for sure if required or defaulted. */
export type SettingValues<Settings extends Record<string, SettingDefinition>> = {
  [Key in keyof Settings]: Settings[Key] extends { default: SettingValue } | { required: true }
    ? Value<Settings[Key]['type']>
    : Value<Settings[Key]['type']> | undefined
}

const builder =
  <Type extends SettingType>(type: Type) =>
  <const Options extends Common & { default?: Value<Type>; options?: readonly string[] }>(
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
