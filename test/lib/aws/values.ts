import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import fc from 'fast-check'

/** Any text that UTF-8 can hold; of one word as a name the SDK loses the value. */
export const text = fc
  .string({ unit: 'binary', maxLength: 12 })
  .filter(word => word !== '__proto__')

const bytes = fc.uint8Array({ maxLength: 12 })
const number = fc.oneof(
  fc.maxSafeInteger().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
)

/** Attribute values of every type, as deep as our items ever are. */
export const { value: attributeValue } = fc.letrec<{ value: AttributeValue }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    text.map(S => ({ S })),
    number.map(N => ({ N })),
    fc.boolean().map(BOOL => ({ BOOL })),
    fc.constant({ NULL: true as const }),
    bytes.map(B => ({ B })),
    fc.array(text, { minLength: 1, maxLength: 3 }).map(SS => ({ SS })),
    fc.array(number, { minLength: 1, maxLength: 3 }).map(NS => ({ NS })),
    fc.array(bytes, { minLength: 1, maxLength: 3 }).map(BS => ({ BS })),
    fc.array(tie('value'), { maxLength: 3 }).map(L => ({ L })),
    fc
      .dictionary(fc.oneof(text, fc.constantFrom('B', 'BS', 'S')), tie('value'), { maxKeys: 3 })
      .map(M => ({ M })),
  ),
}))

export const item = fc.dictionary(
  fc.oneof(fc.constantFrom('pk', 'sk', 'B', 'BS', 'message', 'ünd'), text),
  attributeValue,
  { maxKeys: 5, noNullPrototype: true },
)

/** Keys of objects as odd as S3 allows them: no text is refused that XML can hold. */
export const objectKey = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        ...['a', 'media/', '/', '//', '..', '../', './', ' ', '+', '%', '%2F', '%20', '?', '#'],
        ...['&', '=', '"', "'", '<', '>', '(', ')', '*', '!', '~', ';', ':', '@', ',', '$', '\\'],
        ...['é', 'é', '日本', '😀', '\t', '\r', '\n', '|', '[', '{', '^', '`'],
      ),
      { minLength: 1, maxLength: 8 },
    )
    .map(parts => parts.join('')),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
)
