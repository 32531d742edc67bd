import * as z from 'zod'
import { S3Error } from './errors.ts'

const Text = z.union([z.string(), z.number()]).transform(String)
const Length = z.coerce.number().int().nonnegative()

const Condition = z.union([
  z.tuple([z.string().regex(/^(eq|starts-with)$/i), z.string().startsWith('$'), Text]),
  z.tuple([z.string().regex(/^content-length-range$/i), Length, Length]),
  z.record(z.string(), Text),
])

const Policy = z.object({ expiration: z.iso.datetime(), conditions: z.array(Condition) })

/** Fields that no policy need mention (S3 API reference, "POST policy": condition matching). */
const UNCOVERED = new Set(['x-amz-signature', 'file', 'policy'])
const IGNORED_PREFIX = 'x-ignore-'

/** How long a file the policy lets through, in bytes, both ends counted. */
export type LengthRange = { minimum: number; maximum: number }

/**
 * Holds a form to its policy: every condition must be met and every field must have one. The
 * bucket counts as a field. Returns how long the file may be, to be held to while it is read.
 * Throws AccessDenied or InvalidPolicyDocument.
 */
export const checkPolicy = (
  encoded: string,
  form: { fields: ReadonlyMap<string, string>; maximum: number; now: Date },
): LengthRange => {
  const policy = parsePolicy(encoded)
  if (Date.parse(policy.expiration) <= form.now.getTime()) throw denied('Policy expired.')
  const covered = new Set<string>()
  const range = { minimum: 0, maximum: form.maximum }

  const check = (operator: string, field: string, wanted: string): void => {
    const name = field.toLowerCase()
    const value = form.fields.get(name)
    const isMet = operator === 'eq' ? value === wanted : value?.startsWith(wanted)
    covered.add(name)
    if (!isMet) {
      throw denied(`Policy Condition failed: ${JSON.stringify([operator, `$${name}`, wanted])}`)
    }
  }

  for (const condition of policy.conditions) {
    if (!Array.isArray(condition)) {
      for (const [field, wanted] of Object.entries(condition)) check('eq', field, wanted)
      continue
    }
    const [operator, left, right] = condition
    if (typeof left === 'number') {
      range.minimum = Math.max(range.minimum, left)
      range.maximum = Math.min(range.maximum, Number(right))
      continue
    }
    check(operator.toLowerCase(), left.slice(1), String(right))
  }

  const extra = [...form.fields.keys()].filter(
    name => !covered.has(name) && !UNCOVERED.has(name) && !name.startsWith(IGNORED_PREFIX),
  )
  if (extra.length > 0) throw denied(`Extra input fields: ${extra.join(', ')}`)
  return range
}

const parsePolicy = (encoded: string): z.infer<typeof Policy> => {
  try {
    return Policy.parse(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')))
  } catch (cause) {
    throw new S3Error('InvalidPolicyDocument', 'The content of the form is not a valid policy.', {
      cause,
    })
  }
}

const denied = (reason: string): S3Error =>
  new S3Error('AccessDenied', `Invalid according to Policy: ${reason}`)
