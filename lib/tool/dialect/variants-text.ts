import {
  isObject,
  isSame,
  type JsonSchema,
  namesIn,
  omit,
  type Schema,
  schemasByName,
} from './json-schema.ts'
import { say, told } from './say.ts'

type Variant = { node: JsonSchema; sentences: string[] }

/** What each alternative of a tool's arguments has of its own, as one sentence a piece. */
export const variantsText = (variants: Variant[], shared: string[]): string => {
  const nodes = variants.map(({ node }) => node)
  const texts = variants.map(({ node, sentences }, index) => {
    const own = sentences.filter(text => !shared.includes(text))
    return `(${index + 1}) ${[...partsOf(node, nodes), ...own].join('; ') || 'nothing more'}`
  })
  return `Give the arguments of one of these: ${texts.join(' ')}`
}

const PLAIN = ['type', 'properties', 'required', 'additionalProperties', 'title']

const partsOf = (node: JsonSchema, nodes: JsonSchema[]): string[] => {
  const required = namesIn(node.required)
  const own = schemasByName(node.properties).filter(
    ([name, schema]) => !nodes.every(other => isSame(propertyOf(other, name), schema)),
  )
  const values = own.filter(([, schema]) => valueText(schema) !== undefined)
  const listed = own.filter(([, schema]) => valueText(schema) === undefined)
  const isOptional = ([name]: [string, Schema]) => !required.includes(name)
  const differing = listed.filter(([name, schema]) =>
    nodes.some(other => {
      const theirs = propertyOf(other, name)
      return theirs !== undefined && !isSame(theirs, schema)
    }),
  )
  const always = required.filter(
    name =>
      !values.some(([value]) => value === name) &&
      !nodes.every(other => namesIn(other.required).includes(name)),
  )
  const optional = listed.filter(isOptional).map(([name]) => name)
  const rest = Object.fromEntries(
    Object.entries(omit(node, ...PLAIN, 'description')).filter(
      ([keyword, value]) => !nodes.every(other => isSame(other[keyword], value)),
    ),
  )
  const closes = !nodes.every(other =>
    isSame(other.additionalProperties, node.additionalProperties),
  )
  return [
    ...(typeof node.description === 'string' ? [node.description] : []),
    ...values.map(
      entry => `${entry[0]} ${valueText(entry[1])}${isOptional(entry) ? ' or absent' : ''}`,
    ),
    ...(always.length > 0 ? [`requires ${always.join(', ')}`] : []),
    ...(optional.length > 0 ? [`may have ${optional.join(', ')}`] : []),
    ...differing.map(([name, schema]) => `${name} must match ${told(schema)}`),
    ...say(rest),
    ...(closes && node.additionalProperties !== undefined
      ? say(node, ['additionalProperties'])
      : []),
  ]
}

const propertyOf = (node: JsonSchema, name: string): Schema | undefined =>
  schemasByName(node.properties).find(([other]) => other === name)?.[1]

const valueText = (schema: Schema): string | undefined => {
  if (!isObject(schema)) return undefined
  const values = 'const' in schema ? [schema.const] : schema.enum
  return Array.isArray(values) ? values.map(told).join(' or ') : undefined
}
