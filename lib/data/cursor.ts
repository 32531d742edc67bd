import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import * as z from 'zod'
import { AppError } from '../core/errors.ts'

const Cursor = z.object({ scope: z.string(), key: z.record(z.string(), z.string()) })

/** Where a page ended, opaque to callers, and good only for the same list. */
export const encodeCursor = (key: Record<string, AttributeValue>, scope: string): string => {
  const plain = Object.fromEntries(
    Object.entries(key).map(([name, value]) => [name, value.S ?? '']),
  )
  return Buffer.from(JSON.stringify({ scope, key: plain })).toString('base64url')
}

/** The key that a cursor holds; one that is damaged or of another list is BAD_REQUEST. */
export const decodeCursor = (text: string, scope: string): Record<string, AttributeValue> => {
  const cursor = Cursor.safeParse(tryJson(Buffer.from(text, 'base64url').toString()))
  if (!cursor.success || cursor.data.scope !== scope)
    throw new AppError(
      'BAD_REQUEST',
      'This cursor is not of this list. Leave it out to start anew.',
    )
  return Object.fromEntries(Object.entries(cursor.data.key).map(([name, S]) => [name, { S }]))
}

const tryJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
