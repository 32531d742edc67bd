import type { Dialect, JsonSchema } from '../../../../lib/tool/dialect/adapt.ts'

/**
 * What each provider's documentation lists for a tool's schema, written down apart from the code's
 * own tables. `references` and `lists` are further than a list of words can say.
 */
const JSON_SCHEMA = [
  ...['type', 'enum', 'const', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum'],
  ...['exclusiveMinimum', 'maxLength', 'minLength', 'pattern', 'maxItems', 'minItems'],
  ...['uniqueItems', 'maxContains', 'minContains', 'maxProperties', 'minProperties', 'required'],
  ...['dependentRequired', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'],
  ...['dependentSchemas', 'prefixItems', 'items', 'contains', 'properties', 'patternProperties'],
  ...['additionalProperties', 'propertyNames', 'unevaluatedItems', 'unevaluatedProperties'],
  ...['title', 'description', 'default', 'deprecated', 'readOnly', 'writeOnly', 'examples'],
  ...[
    'format',
    'contentMediaType',
    'contentEncoding',
    'contentSchema',
    '$ref',
    '$defs',
    '$comment',
  ],
]
const EVERYWHERE = ['type', 'description', 'properties', 'required', 'items', 'enum', 'anyOf']

export const DOCUMENTED: Record<
  Dialect,
  { words: string[]; formats?: string[]; typeLists: boolean }
> = {
  openai: {
    words: [
      ...[...EVERYWHERE, 'additionalProperties', 'pattern', 'format', 'multipleOf', 'maximum'],
      ...[
        'exclusiveMaximum',
        'minimum',
        'exclusiveMinimum',
        'minItems',
        'maxItems',
        '$ref',
        '$defs',
      ],
    ],
    formats: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
    typeLists: true,
  },
  anthropic: { words: JSON_SCHEMA, typeLists: true },
  google: {
    words: [
      ...[...EVERYWHERE, 'additionalProperties', 'format', 'title', 'minItems', 'maxItems'],
      ...['minimum', 'maximum'],
    ],
    formats: ['date-time', 'date', 'time'],
    typeLists: false,
  },
  xai: {
    words: [...EVERYWHERE, 'additionalProperties', 'format', 'const', 'default'],
    formats: ['date', 'time', 'date-time', 'email', 'uuid', 'ipv4'],
    typeLists: true,
  },
  'openai-compatible': { words: [...EVERYWHERE, 'additionalProperties'], typeLists: false },
  mcp: { words: JSON_SCHEMA, typeLists: true },
}

const ONE = [
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
]
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const MAPS = ['properties', '$defs', 'patternProperties', 'dependentSchemas']

/** Every schema within a schema, with where it stands. */
export const schemasWithin = (
  schema: JsonSchema,
  path = '#',
): { path: string; schema: JsonSchema }[] => {
  const parts: [string, unknown][] = [
    ...ONE.map((word): [string, unknown] => [word, schema[word]]),
    ...LISTS.flatMap(word =>
      ((schema[word] ?? []) as unknown[]).map((part, index): [string, unknown] => [
        `${word}/${index}`,
        part,
      ]),
    ),
    ...MAPS.flatMap(word =>
      Object.entries((schema[word] ?? {}) as JsonSchema).map(([name, part]): [string, unknown] => [
        `${word}/${name}`,
        part,
      ]),
    ),
  ]
  return [
    { path, schema },
    ...parts.flatMap(([name, part]) =>
      typeof part === 'object' && part !== null
        ? schemasWithin(part as JsonSchema, `${path}/${name}`)
        : [],
    ),
  ]
}

/** What a schema has that the provider's documentation does not. */
export const strayWords = (dialect: Dialect, root: JsonSchema): string[] => {
  const { words, formats, typeLists } = DOCUMENTED[dialect]
  return schemasWithin(root).flatMap(({ path, schema }) => [
    ...Object.keys(schema)
      .filter(word => !words.includes(word))
      .map(word => `${path}: ${word}`),
    ...(formats && typeof schema.format === 'string' && !formats.includes(schema.format)
      ? [`${path}: format ${schema.format}`]
      : []),
    ...(Array.isArray(schema.type) && !typeLists ? [`${path}: a list of types`] : []),
    ...(schema.type === 'array' && !('items' in schema) && words !== JSON_SCHEMA
      ? [`${path}: no items`]
      : []),
    ...('anyOf' in schema && words !== JSON_SCHEMA
      ? Object.keys(schema)
          .filter(word => !['anyOf', 'description', 'default'].includes(word))
          .map(word => `${path}: ${word} beside anyOf`)
      : []),
    ...('$ref' in schema && words !== JSON_SCHEMA && Object.keys(schema).length > 1
      ? [`${path}: words beside $ref`]
      : []),
  ])
}
