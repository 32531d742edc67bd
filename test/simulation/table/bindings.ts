import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { invalid } from './errors.ts'
import { kept } from './value.ts'

/** What a request's expressions refer to. */
export type Bindings = {
  nameAt: (label: string) => string
  valueAt: (label: string) => AttributeValue
}

/** The labels that a parsed expression uses. */
export type Labels = { names: ReadonlySet<string>; values: ReadonlySet<string> }

type Given = {
  ExpressionAttributeNames?: Record<string, string> | undefined
  ExpressionAttributeValues?: Record<string, AttributeValue> | undefined
}

/** Binds the expressions of a request; throws where a label is defined or used without the other. */
export const bind = (given: Given, used: Labels[]): Bindings => {
  const names = given.ExpressionAttributeNames
  const values = given.ExpressionAttributeValues
  if (names) refuseUnused('ExpressionAttributeNames', names, used, 'names')
  if (values) refuseUnused('ExpressionAttributeValues', values, used, 'values')
  const bound: Record<string, AttributeValue> = {}
  for (const label in values) bound[label] = kept(values[label] as AttributeValue)
  for (const labels of used) {
    for (const label of labels.names)
      if (label.startsWith('#') && names?.[label] === undefined)
        throw invalid(`An expression attribute name is not defined; attribute name: ${label}`)
    for (const label of labels.values)
      if (bound[label] === undefined)
        throw invalid(`An expression attribute value is not defined; attribute value: ${label}`)
  }
  return {
    nameAt: label => names?.[label] ?? label,
    valueAt: label => bound[label] as AttributeValue,
  }
}

const refuseUnused = (
  parameter: keyof Given,
  given: Record<string, unknown>,
  used: Labels[],
  kind: keyof Labels,
): void => {
  if (used.length === 0) throw invalid(`${parameter} can only be specified when using expressions`)
  const labels = Object.keys(given)
  if (labels.length === 0) throw invalid(`${parameter} must not be empty`)
  const unused = labels.filter(label => !used.some(each => each[kind].has(label)))
  if (unused.length > 0)
    throw invalid(`Value provided in ${parameter} unused in expressions: keys: {${unused}}`)
}
