import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'

/** A test of one attribute, for conditions. A bare value means "equals". */
export type Test =
  | { test: 'absent' }
  | { test: 'present' }
  | { test: 'absent or <='; value: unknown }
  | { test: '<' | '<=' | '>' | '>='; value: unknown }
  | { test: 'in'; values: unknown[] }
  | { test: 'lacks'; values: string[] }

/** A condition: every attribute named passes its test, and one of the alternatives in `any`. */
export type Where = { [attribute: string]: unknown; any?: Where[] }

export type Change = {
  set?: Record<string, unknown>
  remove?: string[]
  add?: Record<string, number | Set<string>>
  /** Takes these out of sets. */
  delete?: Record<string, Set<string>>
}

export const is = {
  absent: { test: 'absent' },
  present: { test: 'present' },
  below: (value: unknown): Test => ({ test: '<', value }),
  atMost: (value: unknown): Test => ({ test: '<=', value }),
  absentOrAtMost: (value: unknown): Test => ({ test: 'absent or <=', value }),
  above: (value: unknown): Test => ({ test: '>', value }),
  atLeast: (value: unknown): Test => ({ test: '>=', value }),
  oneOf: (values: unknown[]): Test => ({ test: 'in', values }),
  /** For sets of strings: none of these values is in it. */
  without: (values: string[]): Test => ({ test: 'lacks', values }),
} satisfies Record<string, Test | ((...values: never[]) => Test)>

/** Collects the names and values that one request's expressions refer to. */
export const collector = () => {
  const names: Record<string, string> = {}
  const labels = new Map<string, string>()
  const values: Record<string, AttributeValue> = {}
  return {
    name: (attribute: string): string => {
      const label = labels.get(attribute) ?? `#n${labels.size}`
      labels.set(attribute, label)
      names[label] = attribute
      return label
    },
    value: (value: unknown): string => {
      const label = `:v${Object.keys(values).length}`
      values[label] = marshall({ value }, MARSHALL_OPTIONS).value as AttributeValue
      return label
    },
    attributes: () => ({
      ...(Object.keys(names).length > 0 ? { ExpressionAttributeNames: names } : {}),
      ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
    }),
  }
}
type Collector = ReturnType<typeof collector>

export const MARSHALL_OPTIONS = { removeUndefinedValues: true } as const

/** A condition's text, or undefined where it tests nothing. */
export const conditionOf = (where: Where, collect: Collector): string | undefined => {
  const parts = Object.entries(where).flatMap(([attribute, test]) => {
    if (test === undefined || testsNothing(test)) return []
    if (attribute === 'any') return anyOf(test as Where[], collect)
    return testOf(collect.name(attribute), test, collect)
  })
  return parts.map(part => (parts.length > 1 ? `(${part})` : part)).join(' AND ') || undefined
}

/** An update's text. */
export const updateOf = (
  { set = {}, remove = [], add = {}, delete: taken = {} }: Change,
  collect: Collector,
): string => {
  const pair = ([name, value]: [string, unknown]) => `${collect.name(name)} ${collect.value(value)}`
  const sets = Object.entries(set).filter(([, value]) => value !== undefined)
  const clauses: [string, string[]][] = [
    ['SET', sets.map(([name, value]) => `${collect.name(name)} = ${collect.value(value)}`)],
    ['REMOVE', remove.map(name => collect.name(name))],
    ['ADD', Object.entries(add).map(pair)],
    ['DELETE', Object.entries(taken).map(pair)],
  ]
  return clauses
    .filter(([, parts]) => parts.length > 0)
    .map(([verb, parts]) => `${verb} ${parts.join(', ')}`)
    .join(' ')
}

/** DynamoDB takes no brackets that it finds redundant; an alternative without a test always holds. */
const anyOf = (alternatives: Where[], collect: Collector): string | [] => {
  const texts = alternatives.map(where => conditionOf(where, collect))
  if (texts.includes(undefined)) return []
  return texts.length === 1 ? (texts[0] ?? []) : texts.map(text => `(${text})`).join(' OR ')
}

const isTest = (value: unknown): value is Test =>
  typeof value === 'object' && value !== null && 'test' in value

/** No value is in every set. */
const testsNothing = (test: unknown): boolean =>
  isTest(test) && test.test === 'lacks' && test.values.length === 0

const testOf = (name: string, test: unknown, collect: Collector): string => {
  if (!isTest(test)) return `${name} = ${collect.value(test)}`
  switch (test.test) {
    case 'absent':
      return `attribute_not_exists(${name})`
    case 'present':
      return `attribute_exists(${name})`
    case 'absent or <=':
      return `attribute_not_exists(${name}) OR ${name} <= ${collect.value(test.value)}`
    case 'in':
      return `${name} IN (${test.values.map(value => collect.value(value)).join(', ')})`
    case 'lacks':
      return test.values
        .map(value => `NOT contains(${name}, ${collect.value(value)})`)
        .join(' AND ')
    default:
      return `${name} ${test.test} ${collect.value(test.value)}`
  }
}
