import * as z from 'zod'
import type { Operation, Tool } from './define.ts'
import { MAX_RESULT_SIZE } from './serialize.ts'
import { type SettingDefinition, SKILL_PATTERN } from './setting.ts'
import { CATEGORIES, DECIDERS, EFFECTS, RESOURCES, SETTING_TYPES } from './words.ts'

/**
 * An operation that may take longer is awaited by nobody, since API Gateway waits for 30 seconds:
 * it runs as an event.
 */
export const MAX_AWAITED_SECONDS = 25
/** What an operation may take at most: Lambda gives 15 minutes, and the receipt takes some. */
export const MAX_OPERATION_SECONDS = 890
/** What a Lambda may have, in MB. */
const MIN_MEMORY_MB = 128
const MAX_MEMORY_MB = 10_240
/** What a model may be shown of one result, in characters; the most is all that a result may have. */
export const MIN_RESULT_CHARS = 1_000

/** What is wrong with a value, as the end of a sentence about it; undefined where nothing is. */
type Rule = (value: unknown) => string | undefined

const rule =
  (words: string, holds: (value: unknown) => boolean): Rule =>
  value =>
    holds(value) ? undefined : words

const anything: Rule = () => undefined
const text = rule('must be a text that says something.', isText)
const flag = rule('must be true or false.', value => typeof value === 'boolean')
const code = rule('must be a function.', value => typeof value === 'function')
const object = rule('must be an object.', value => typeof value === 'object' && value !== null)
const oneOf = (...values: string[]) =>
  rule(`must be one of: ${values.join(', ')}.`, value => values.includes(value as string))
const wholeNumber = (min: number, max: number, unit: string) =>
  rule(
    `must be a whole number of ${unit} from ${min} to ${max}.`,
    value => Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
  )
const listOf = (words: string, holds: (item: unknown) => boolean) =>
  rule(words, value => Array.isArray(value) && value.every(holds))
const optional =
  (within: Rule): Rule =>
  value =>
    value === undefined ? undefined : within(value)

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== ''
}

/** Names are checked where their patterns are, and what is within is checked by itself. */
const TOOL_RULES: Record<keyof Tool, Rule> = {
  name: anything,
  description: text,
  displayName: text,
  category: oneOf(...CATEGORIES),
  icon: optional(text),
  recommendsSkills: listOf(
    `must be a list of names of skills, each ${SKILL_PATTERN}.`,
    name => typeof name === 'string' && SKILL_PATTERN.test(name),
  ),
  discriminator: anything,
  maxResultChars: wholeNumber(MIN_RESULT_CHARS, MAX_RESULT_SIZE, 'characters'),
  settings: object,
  operations: object,
  middleware: listOf('must be a list of functions.', item => typeof item === 'function'),
  available: code,
}

const OPERATION_RULES: Record<keyof Operation, Rule> = {
  name: anything,
  description: text,
  parameters: rule('must be a z.object.', value => value instanceof z.ZodObject),
  effect: oneOf(...EFFECTS),
  enabledByDefault: flag,
  requiresApprovalByDefault: flag,
  decidedByDefault: oneOf(...DECIDERS),
  neverByStarterByDefault: flag,
  timeoutSeconds: rule(
    `must be a number of seconds above 0, at most ${MAX_OPERATION_SECONDS}.`,
    value => typeof value === 'number' && value > 0 && value <= MAX_OPERATION_SECONDS,
  ),
  memoryMb: wholeNumber(MIN_MEMORY_MB, MAX_MEMORY_MB, 'MB'),
  touches: listOf(`must be a list of: ${RESOURCES.join(', ')}.`, item =>
    (RESOURCES as readonly unknown[]).includes(item),
  ),
  misplaced: rule(
    'must be an object of texts.',
    value => typeof value === 'object' && value !== null && Object.values(value).every(isText),
  ),
  endsTask: flag,
  describe: code,
  execute: code,
}

const SETTING_RULES: Record<keyof SettingDefinition, Rule> = {
  type: oneOf(...SETTING_TYPES),
  label: text,
  description: optional(text),
  required: optional(flag),
  default: anything,
  options: optional(listOf('must be a list of texts.', isText)),
  scope: optional(oneOf('any', 'principal', 'agent')),
  exposeToLlm: optional(flag),
  resolveAs: optional(oneOf('agent', 'skill', 'raw')),
  enumFor: optional(text),
}

export const toolProblem = (tool: Tool) => problemIn(tool, TOOL_RULES)
export const operationProblem = (operation: Operation) => problemIn(operation, OPERATION_RULES)
export const settingProblem = (setting: SettingDefinition) => problemIn(setting, SETTING_RULES)

/**
 * The first option that is wrong, and how. One that nobody knows is wrong, too: a
 * `requiresApproval` that is not heard would let run what was to be asked about.
 */
const problemIn = (options: object, rules: Record<string, Rule>): string | undefined => {
  for (const name of Object.keys(options))
    if (!Object.hasOwn(rules, name))
      return `"${name}" is no option; there are: ${Object.keys(rules).join(', ')}.`
  for (const [name, holds] of Object.entries(rules)) {
    const problem = holds((options as Record<string, unknown>)[name])
    if (problem) return `"${name}" ${problem}`
  }
  return undefined
}

/** Whether an operation runs as an event, whose end is a wake: nobody awaits it. */
export const isLong = ({ timeoutSeconds }: Pick<Operation, 'timeoutSeconds'>): boolean =>
  timeoutSeconds > MAX_AWAITED_SECONDS
