import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { invalid } from './errors.ts'
import { canonicalNumber, compareNumbers, numberBytes } from './number.ts'

export type Item = Record<string, AttributeValue>
export type Kind = 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'SS' | 'NS' | 'BS' | 'L' | 'M'

/** DynamoDB's: an attribute and what is within it. */
const MAX_DEPTH = 32

export const kindOf = (value: AttributeValue): Kind => {
  for (const kind in value) if (value[kind as never] !== undefined) return kind as Kind
  throw invalid('Supplied AttributeValue is empty, must contain exactly one of the supported types')
}

/** A copy of a value as DynamoDB keeps it; one that it refuses throws. */
export const kept = (value: AttributeValue, depth = 0): AttributeValue => {
  if (depth >= MAX_DEPTH) throw invalid('Nesting Levels have exceeded supported limits')
  if (value.S !== undefined) return { S: value.S }
  if (value.N !== undefined) return { N: canonicalNumber(value.N) }
  if (value.BOOL !== undefined) return { BOOL: value.BOOL }
  if (value.B !== undefined) return { B: value.B }
  if (value.NULL !== undefined) {
    if (!value.NULL) throw invalid('Null attribute value types must have the value of true')
    return { NULL: true }
  }
  if (value.SS !== undefined) return { SS: distinct(value.SS) }
  if (value.NS !== undefined) return { NS: distinct(value.NS.map(canonicalNumber)) }
  if (value.BS !== undefined) return { BS: distinctBytes(value.BS) }
  if (value.L !== undefined) return { L: value.L.map(element => kept(element, depth + 1)) }
  if (value.M !== undefined) return { M: keptItem(value.M, depth + 1) }
  throw invalid('Supplied AttributeValue is empty, must contain exactly one of the supported types')
}

export const keptItem = (item: Item, depth = 0): Item => {
  const copy: Item = {}
  for (const name in item) {
    if (name === '' && depth === 0) throw invalid('An attribute name must not be empty')
    copy[name] = kept(item[name] as AttributeValue, depth)
  }
  return copy
}

/** Equal as DynamoDB has it: sets in any order. Both kept. */
export const equalValues = (a: AttributeValue, b: AttributeValue): boolean => {
  if (a === b) return true
  if (a.S !== undefined) return a.S === b.S
  if (a.N !== undefined) return a.N === b.N
  if (a.BOOL !== undefined) return a.BOOL === b.BOOL
  if (a.NULL !== undefined) return b.NULL !== undefined
  if (a.B !== undefined) return b.B !== undefined && Buffer.compare(a.B, b.B) === 0
  if (a.SS !== undefined) return sameMembers(a.SS, b.SS)
  if (a.NS !== undefined) return sameMembers(a.NS, b.NS)
  if (a.BS !== undefined) return sameMembers(a.BS.map(textOf), b.BS?.map(textOf))
  if (a.L !== undefined) {
    const { L: other } = b
    return (
      other?.length === a.L.length &&
      a.L.every((element, index) => equalValues(element, other[index] as AttributeValue))
    )
  }
  return a.M !== undefined && b.M !== undefined && equalItems(a.M, b.M)
}

export const equalItems = (a: Item, b: Item): boolean => {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every(name => {
      const other = b[name]
      return other !== undefined && equalValues(a[name] as AttributeValue, other)
    })
  )
}

/** Below, at or above zero, as a sort's comparison; undefined where the two have no order. */
export const compareValues = (a: AttributeValue, b: AttributeValue): number | undefined => {
  if (a.S !== undefined && b.S !== undefined) return compareText(a.S, b.S)
  if (a.N !== undefined && b.N !== undefined) return compareNumbers(a.N, b.N)
  if (a.B !== undefined && b.B !== undefined) return Buffer.compare(a.B, b.B)
  return undefined
}

/** DynamoDB orders text by its bytes in UTF-8, JavaScript by UTF-16; they part at surrogates. */
export const compareText = (a: string, b: string): number => {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1
  if (at === length) return a.length - b.length
  return rankOf(a.charCodeAt(at)) - rankOf(b.charCodeAt(at))
}

/** Surrogates, which stand for what is above all else, are below U+E000 by their own number. */
const rankOf = (unit: number): number => {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** A kept item's bytes, names included, by AWS's rules ("DynamoDB item sizes and formats"). */
export const itemBytes = (item: Item): number => {
  let bytes = 0
  for (const name in item) bytes += attributeBytes(name, item[name] as AttributeValue)
  return bytes
}

export const attributeBytes = (name: string, value: AttributeValue): number =>
  Buffer.byteLength(name) + valueBytes(value)

const valueBytes = (value: AttributeValue): number => {
  if (value.S !== undefined) return Buffer.byteLength(value.S)
  if (value.N !== undefined) return numberBytes(value.N)
  if (value.B !== undefined) return value.B.length
  if (value.SS !== undefined) return total(value.SS.map(text => Buffer.byteLength(text)))
  if (value.NS !== undefined) return total(value.NS.map(numberBytes))
  if (value.BS !== undefined) return total(value.BS.map(({ length }) => length))
  if (value.L !== undefined) return 3 + total(value.L.map(element => 1 + valueBytes(element)))
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemBytes(value.M)
  return 1
}

const total = (parts: number[]): number => parts.reduce((sum, part) => sum + part, 0)

const distinct = (members: string[]): string[] => {
  if (members.length === 0) throw invalid('An string set may not be empty')
  if (new Set(members).size !== members.length)
    throw invalid('Input collection contains duplicates.')
  return [...members]
}

const distinctBytes = (members: Uint8Array[]): Uint8Array[] => {
  distinct(members.map(textOf))
  return [...members]
}

export const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

const sameMembers = (a: string[], b: string[] | undefined): boolean => {
  if (b?.length !== a.length) return false
  const members = new Set(a)
  return b.every(member => members.has(member))
}
