import {
  canonicalText,
  isObject,
  type JsonSchema,
  namesIn,
  omit,
  type Schema,
  schemasByName,
} from './json-schema.ts'
import { say, told } from './say.ts'

type Variant = { node: JsonSchema; sentences: string[] }

/** Of the variants together: how many declare and require a name, and in how many forms. */
type Survey = {
  variants: number
  required: Map<string, number>
  forms: Map<string, { count: number; texts: Set<string> }>
}

/** What each alternative of a tool's arguments has of its own, all in one sentence or two. */
export const variantsText = (variants: Variant[], shared: readonly string[]): string => {
  const survey = surveyOf(variants.map(({ node }) => node))
  const known = new Set(shared)
  const texts = variants.map(({ node, sentences }, index) => {
    const own = sentences.filter(text => !known.has(text))
    return `(${index + 1}) ${[...partsOf(node, survey), ...own].join('; ') || 'nothing more'}`
  })
  return `Give the arguments of one of these: ${texts.join(' ')}`
}

const surveyOf = (nodes: JsonSchema[]): Survey => {
  const survey: Survey = { variants: nodes.length, required: new Map(), forms: new Map() }
  for (const node of nodes) {
    for (const name of namesIn(node.required))
      survey.required.set(name, (survey.required.get(name) ?? 0) + 1)
    for (const [key, value] of formsOf(node)) {
      const form = survey.forms.get(key) ?? { count: 0, texts: new Set() }
      form.count++
      form.texts.add(canonicalText(value))
      survey.forms.set(key, form)
    }
  }
  return survey
}

const PLAIN = ['type', 'properties', 'required', 'title', 'description']

/** A variant's properties and its other keywords, each under a key of its own. */
const formsOf = (node: JsonSchema): [string, unknown][] => [
  ...schemasByName(node.properties).map(([name, schema]): [string, unknown] => [
    `property ${name}`,
    schema,
  ]),
  ...Object.entries(omit(node, ...PLAIN)),
]

const partsOf = (node: JsonSchema, { variants, required, forms }: Survey): string[] => {
  const isCommon = (key: string) => {
    const form = forms.get(key)
    return form?.count === variants && form.texts.size === 1
  }
  const own = schemasByName(node.properties).filter(([name]) => !isCommon(`property ${name}`))
  const needed = new Set(namesIn(node.required))
  const values = new Map(own.flatMap(([name, schema]) => valueEntry(name, schema)))
  const listed = own.filter(([name]) => !values.has(name))
  const always = [...needed].filter(
    name => !values.has(name) && (required.get(name) ?? 0) < variants,
  )
  const optional = listed.map(([name]) => name).filter(name => !needed.has(name))
  const differing = listed.filter(([name]) => (forms.get(`property ${name}`)?.texts.size ?? 0) > 1)
  const others = Object.keys(omit(node, ...PLAIN)).filter(keyword => !isCommon(keyword))
  return [
    ...(typeof node.description === 'string' ? [node.description] : []),
    ...[...values].map(([name, text]) => `${name} ${text}${needed.has(name) ? '' : ' or absent'}`),
    ...(always.length > 0 ? [`requires ${always.join(', ')}`] : []),
    ...(optional.length > 0 ? [`may have ${optional.join(', ')}`] : []),
    ...differing.map(([name, schema]) => `${name} must match ${told(schema)}`),
    ...say(node, others),
  ]
}

/** The values of a property that lists them, in words. */
const valueEntry = (name: string, schema: Schema): [string, string][] => {
  if (!isObject(schema)) return []
  const values = 'const' in schema ? [schema.const] : schema.enum
  return Array.isArray(values) ? [[name, values.map(told).join(' or ')]] : []
}
