import { GENERAL_KEYWORDS, type JsonType, KEYWORDS_OF_TYPE } from './json-schema.ts'

export const DIALECTS = [
  'openai',
  'anthropic',
  'google',
  'xai',
  'openai-compatible',
  'mcp',
] as const
export type Dialect = (typeof DIALECTS)[number]

/** What a provider takes. Every list was read in its documentation; what isn't in it is told. */
export type Table = {
  /** The keywords that may stand below the root. */
  keywords: ReadonlySet<string>
  /** `all`: a validator's whole vocabulary, kept as it is below the root. */
  vocabulary: 'subset' | 'all'
  /** The formats of a text; undefined takes any. */
  formats?: ReadonlySet<string>
  /** The types of values that `enum` may hold. */
  enumTypes: ReadonlySet<JsonType>
  /** Whether `type` may be a list with `null`; else a nullable value is a union. */
  hasTypeLists: boolean
  /** Whether `$ref` is kept, with what it names in `$defs`; else it is replaced by it. */
  references: 'kept' | 'inlined'
  /** Whether every object without `additionalProperties` counts as closed. */
  isClosedUnlessSaid: boolean
  /** Whether a pattern may look around. */
  hasLookaround: boolean
  /** What the names of the arguments must match. */
  argumentName?: RegExp
  /** The characters of a tool's name that are not allowed, its possible starts, its length. */
  toolName: { refused: RegExp; start: RegExp; maxChars: number }
}

const ALL_KEYWORDS = new Set([
  ...[...GENERAL_KEYWORDS, ...Object.values(KEYWORDS_OF_TYPE).flat(), '$defs'],
  ...['title', 'description', 'default', 'deprecated', 'examples', 'readOnly', 'writeOnly'],
  ...['contentEncoding', 'contentMediaType', 'contentSchema', '$comment'],
])
/** Every dialect takes these; all of them appear in each provider's first example. */
const CORE = ['type', 'description', 'properties', 'required', 'additionalProperties', 'items']
const PLAIN_TYPES: JsonType[] = ['string', 'number', 'integer', 'boolean', 'null']
const ALL_TYPES: JsonType[] = [...PLAIN_TYPES, 'object', 'array']
/** Letters, digits, `_` and `-`; 64 characters. */
const COMMON_NAME = { refused: /[^a-zA-Z0-9_-]/g, start: /^/, maxChars: 64 }

export const TABLES: Record<Dialect, Table> = {
  /**
   * Structured outputs, whose subset strict functions have:
   * https://platform.openai.com/docs/guides/structured-outputs#supported-schemas (as collected at
   * https://jsonschemaprofiles.unitvectorylabs.com/schemas/openai), read 2026-11-30. Without
   * `strict` any JSON Schema is taken; the same words are used, and objects may be open. The root
   * must be an object without oneOf, anyOf, allOf, enum and not, and arrays need `items`: the
   * API's own messages. Names: https://platform.openai.com/docs/api-reference/chat/create.
   */
  openai: {
    keywords: new Set([
      ...[...CORE, 'enum', 'anyOf', '$ref', '$defs', 'pattern', 'format', 'multipleOf'],
      ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems'],
    ]),
    vocabulary: 'subset',
    formats: new Set([
      ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
    ]),
    enumTypes: new Set(PLAIN_TYPES),
    hasTypeLists: true,
    references: 'kept',
    isClosedUnlessSaid: false,
    // The driver takes such patterns out of the request, with a warning, before it is sent.
    hasLookaround: false,
    toolName: COMMON_NAME,
  },
  /**
   * `input_schema` is a JSON Schema, checked against draft 2020-12, without oneOf, allOf and anyOf
   * at the top: https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools and the
   * API's messages (anthropics/claude-code#79418), read 2026-11-30. Names of tools match
   * ^[a-zA-Z0-9_-]{1,64}$ there; the API lets 128 pass, but not every cloud that hosts it.
   * Its strict mode compiles one grammar for all tools of a request, which then may not be many:
   * https://platform.claude.com/docs/en/build-with-claude/structured-outputs; we don't ask for it.
   */
  anthropic: {
    keywords: ALL_KEYWORDS,
    vocabulary: 'all',
    enumTypes: new Set(ALL_TYPES),
    hasTypeLists: true,
    references: 'kept',
    isClosedUnlessSaid: false,
    hasLookaround: true,
    argumentName: /^[a-zA-Z0-9_.-]{1,64}$/,
    toolName: COMMON_NAME,
  },
  /**
   * What `responseJsonSchema` lists, which `parametersJsonSchema` shares:
   * https://ai.google.dev/api/generate-content#FIELDS.response_json_schema, read 2026-11-30.
   * `$ref` and `prefixItems` are on that list and not used: recursion is unrolled "to a limited
   * degree" only, and declarations with them have been refused. `enum` is for texts and numbers.
   * Names: https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/FunctionDeclaration.
   */
  google: {
    keywords: new Set([
      ...[...CORE, 'enum', 'anyOf', 'format', 'minimum', 'maximum', 'minItems', 'maxItems'],
    ]),
    vocabulary: 'subset',
    formats: new Set(['date-time', 'date', 'time']),
    enumTypes: new Set<JsonType>(['string', 'number', 'integer']),
    hasTypeLists: false,
    references: 'inlined',
    isClosedUnlessSaid: false,
    hasLookaround: false,
    argumentName: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
    toolName: { refused: /[^a-zA-Z0-9_.-]/g, start: /^[a-zA-Z_]/, maxChars: 64 },
  },
  /**
   * https://docs.x.ai/developers/model-capabilities/text/structured-outputs, which holds for tools
   * too, and https://docs.x.ai/developers/tools/function-calling, read 2026-11-30. Arguments
   * always follow the schema ("implicitly strict"), so there is no flag; objects are closed unless
   * they say otherwise; references may not go round in circles, so they are replaced. Bounds of
   * texts and lists are not on the list, and requests with them have failed.
   */
  xai: {
    keywords: new Set([...CORE, 'enum', 'anyOf', 'format', 'default']),
    vocabulary: 'subset',
    formats: new Set(['date', 'time', 'date-time', 'email', 'uuid', 'ipv4']),
    enumTypes: new Set(PLAIN_TYPES),
    hasTypeLists: true,
    references: 'inlined',
    isClosedUnlessSaid: true,
    hasLookaround: false,
    toolName: COMMON_NAME,
  },
  /**
   * What servers of OpenAI's protocol have in common. The narrowest reads tools into a fixed
   * struct, https://github.com/ollama/ollama/blob/main/api/types.go (ToolFunction), read
   * 2026-11-30: type, properties, required, description, enum, items and anyOf.
   */
  'openai-compatible': {
    keywords: new Set([...CORE, 'enum', 'anyOf']),
    vocabulary: 'subset',
    formats: new Set(),
    enumTypes: new Set<JsonType>(['string', 'number', 'integer']),
    hasTypeLists: false,
    references: 'inlined',
    isClosedUnlessSaid: false,
    hasLookaround: false,
    toolName: COMMON_NAME,
  },
  /**
   * `inputSchema` is a JSON Schema of 2020-12 with `type: "object"`:
   * https://modelcontextprotocol.io/specification/2025-11-25/server/tools, read 2026-11-30.
   * Clients hand it on to models, so the root has no combination here either.
   */
  mcp: {
    keywords: ALL_KEYWORDS,
    vocabulary: 'all',
    enumTypes: new Set(ALL_TYPES),
    hasTypeLists: true,
    references: 'kept',
    isClosedUnlessSaid: false,
    hasLookaround: true,
    toolName: { refused: /[^a-zA-Z0-9_.-]/g, start: /^/, maxChars: 128 },
  },
}

/** OpenAI's limits of a strict schema, read with its table. Lengths are in UTF-16 code units. */
export const STRICT_LIMITS = {
  properties: 5000,
  levels: 10,
  enumValues: 1000,
  /** Of names of properties and definitions, and of values of enums, together. */
  chars: 120_000,
  /** An enum of more texts than these must keep within so many characters. */
  longEnum: { values: 250, chars: 15_000 },
}
