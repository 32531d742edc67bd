import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Bindings, Labels } from './bindings.ts'
import { invalid } from './errors.ts'
import { addNumbers } from './number.ts'
import { readTokens, takeName, takeValue } from './tokens.ts'
import { type Item, kindOf, textOf } from './value.ts'

const VERBS = ['SET', 'REMOVE', 'ADD', 'DELETE'] as const
type Verb = (typeof VERBS)[number]
type Action =
  | { verb: 'REMOVE'; name: string }
  | { verb: Exclude<Verb, 'REMOVE'>; name: string; value: string }

export type Update = Labels & { actions: Action[] }

/** An update's meaning, whatever its labels stand for; throws where DynamoDB has none for it. */
export const parseUpdate = (text: string): Update => {
  const names = new Set<string>()
  const values = new Set<string>()
  const actions: Action[] = []
  const tokens = readTokens('UpdateExpression', text)

  const action = (verb: Verb): void => {
    const name = takeName(tokens)
    names.add(name)
    if (verb === 'REMOVE') {
      actions.push({ verb, name })
      return
    }
    if (verb === 'SET') tokens.expect('=')
    const value = takeValue(tokens)
    values.add(value)
    actions.push({ verb, name, value })
  }

  const seen = new Set<Verb>()
  while (!tokens.isAtEnd()) {
    const verb = VERBS.find(each => tokens.accept(each))
    if (!verb) throw tokens.fail(`Syntax error; token: "${tokens.peek()?.text}"`)
    if (seen.has(verb))
      throw tokens.fail(`The "${verb}" section can only be used once in an update expression`)
    seen.add(verb)
    do action(verb)
    while (tokens.accept(','))
  }
  return { actions, names, values }
}

/** Throws where an update can't be done, whatever the item holds. */
export const checkUpdate = ({ actions }: Update, keys: string[], bindings: Bindings): void => {
  const seen = new Set<string>()
  for (const action of actions) {
    const name = bindings.nameAt(action.name)
    if (keys.includes(name))
      throw invalid(`Cannot update attribute ${name}. This attribute is part of the key`)
    if (seen.has(name))
      throw invalid(`Invalid UpdateExpression: Two document paths overlap with each other: ${name}`)
    seen.add(name)
    if (action.verb !== 'ADD' && action.verb !== 'DELETE') continue
    const kind = kindOf(bindings.valueAt(action.value))
    const isSet = kind === 'SS' || kind === 'NS' || kind === 'BS'
    if (!isSet && !(action.verb === 'ADD' && kind === 'N'))
      throw invalid(
        `Incorrect operand type for operator or function; operator: ${action.verb}, type: ${kind}`,
      )
  }
}

/** The item as it is after an update; of one that isn't there, `item` is its key. */
export const updated = ({ actions }: Update, item: Item, bindings: Bindings): Item => {
  const changed: Item = {}
  const gone = new Set<string>()
  for (const action of actions) {
    const name = bindings.nameAt(action.name)
    const value = action.verb === 'REMOVE' ? undefined : after(action, item[name], bindings)
    if (value) changed[name] = value
    else gone.add(name)
  }
  // Not by `delete`, which makes an object slow for good.
  const next: Item = {}
  for (const name in item) if (!gone.has(name)) next[name] = item[name] as AttributeValue
  return Object.assign(next, changed)
}

const after = (
  { verb, value }: Exclude<Action, { verb: 'REMOVE' }>,
  old: AttributeValue | undefined,
  { valueAt }: Bindings,
): AttributeValue | undefined => {
  const operand = valueAt(value)
  switch (verb) {
    case 'SET':
      return operand
    case 'ADD':
      return old ? sum(old, operand) : operand
    case 'DELETE':
      return old && without(old, operand)
    default:
      return verb satisfies never
  }
}

const sum = (old: AttributeValue, operand: AttributeValue): AttributeValue => {
  if (old.N !== undefined && operand.N !== undefined) return { N: addNumbers(old.N, operand.N) }
  if (old.SS && operand.SS) return { SS: [...new Set([...old.SS, ...operand.SS])] }
  if (old.NS && operand.NS) return { NS: [...new Set([...old.NS, ...operand.NS])] }
  if (old.BS && operand.BS) {
    const members = new Set(old.BS.map(textOf))
    return { BS: [...old.BS, ...operand.BS.filter(member => !members.has(textOf(member)))] }
  }
  throw wrongType()
}

/** A set has members, or it isn't there. */
const without = (old: AttributeValue, operand: AttributeValue): AttributeValue | undefined => {
  if (old.SS && operand.SS) {
    const rest = difference(old.SS, operand.SS, text => text)
    return rest.length > 0 ? { SS: rest } : undefined
  }
  if (old.NS && operand.NS) {
    const rest = difference(old.NS, operand.NS, text => text)
    return rest.length > 0 ? { NS: rest } : undefined
  }
  if (old.BS && operand.BS) {
    const rest = difference(old.BS, operand.BS, textOf)
    return rest.length > 0 ? { BS: rest } : undefined
  }
  throw wrongType()
}

const difference = <T>(from: T[], taken: T[], nameOf: (member: T) => string): T[] => {
  const gone = new Set(taken.map(nameOf))
  return from.filter(member => !gone.has(nameOf(member)))
}

const wrongType = () => invalid('An operand in the update expression has an incorrect data type')
