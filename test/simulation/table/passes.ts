import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Bindings } from './bindings.ts'
import type { Operand, Sign, Test } from './condition.ts'
import { compareValues, equalValues, type Item, textOf } from './value.ts'

/** Whether an item, or none, passes. */
export const passes = (test: Test, item: Item | undefined, bindings: Bindings): boolean => {
  const read = (operand: Operand): AttributeValue | undefined =>
    'value' in operand ? bindings.valueAt(operand.value) : item?.[bindings.nameAt(operand.name)]
  switch (test.is) {
    case 'and':
      return test.parts.every(part => passes(part, item, bindings))
    case 'or':
      return test.parts.some(part => passes(part, item, bindings))
    case 'not':
      return !passes(test.part, item, bindings)
    case 'exists':
      return item?.[bindings.nameAt(test.name)] !== undefined
    case 'absent':
      return item?.[bindings.nameAt(test.name)] === undefined
    case 'compare':
      return compares(test.sign, read(test.left), read(test.right))
    case 'between':
      return (
        compares('>=', read(test.operand), read(test.lower)) &&
        compares('<=', read(test.operand), read(test.upper))
      )
    case 'in':
      return test.choices.some(choice => compares('=', read(test.operand), read(choice)))
    case 'contains':
      return contains(read(test.operand), read(test.part))
    case 'begins':
      return begins(read(test.operand), read(test.part))
    default:
      return test satisfies never
  }
}

/** What isn't there is equal to nothing, and in no order. */
const compares = (
  sign: Sign,
  left: AttributeValue | undefined,
  right: AttributeValue | undefined,
): boolean => {
  if (sign === '<>') return !compares('=', left, right)
  if (!left || !right) return false
  if (sign === '=') return equalValues(left, right)
  const order = compareValues(left, right)
  if (order === undefined) return false
  switch (sign) {
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
    default:
      return sign satisfies never
  }
}

const contains = (whole: AttributeValue | undefined, part: AttributeValue | undefined): boolean => {
  if (!whole || !part) return false
  if (whole.S !== undefined) return part.S !== undefined && whole.S.includes(part.S)
  if (whole.SS !== undefined) return part.S !== undefined && whole.SS.includes(part.S)
  if (whole.NS !== undefined) return part.N !== undefined && whole.NS.includes(part.N)
  if (whole.L !== undefined) return whole.L.some(element => equalValues(element, part))
  if (part.B === undefined) return false
  const sought = textOf(part.B)
  if (whole.B !== undefined) return textOf(whole.B).includes(sought)
  return whole.BS?.some(member => textOf(member) === sought) === true
}

const begins = (whole: AttributeValue | undefined, part: AttributeValue | undefined): boolean => {
  if (whole?.S !== undefined && part?.S !== undefined) return whole.S.startsWith(part.S)
  if (whole?.B !== undefined && part?.B !== undefined)
    return textOf(whole.B).startsWith(textOf(part.B))
  return false
}
