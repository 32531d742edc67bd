export type Input = Record<string, unknown>
type Key = { pk?: { S?: string }; sk?: { S?: string } }

const KINDS: Record<string, 'read' | 'write' | 'invoke'> = {
  GetItemCommand: 'read',
  QueryCommand: 'read',
  BatchGetItemCommand: 'read',
  PutItemCommand: 'write',
  UpdateItemCommand: 'write',
  DeleteItemCommand: 'write',
  TransactWriteItemsCommand: 'write',
  InvokeCommand: 'invoke',
}

/** What a command does, as far as it matters which mishaps it may meet. */
export const kindOfCommand = (name: string) => KINDS[name] ?? 'other'

/** Ids are as long as they are random: their ends tell them apart. */
export const short = (text: string): string =>
  text.replaceAll(/\b([a-z]+)_[0-9A-Z]{21}([0-9A-Z]{5})\b/g, '$1_$2')

const keyOf = ({ pk, sk }: Key): string => `${pk?.S}/${sk?.S}`

/** The keys of the items that a command is about. */
export const keysOf = (input: Input): string[] => {
  if (input.Key) return [keyOf(input.Key as Key)]
  if (input.Item) return [keyOf(input.Item as Key)]
  const writes = input.TransactItems as Record<string, { Key?: Key; Item?: Key }>[] | undefined
  if (writes)
    return writes.flatMap(write =>
      Object.values(write).map(({ Key, Item }) => keyOf(Key ?? Item ?? {})),
    )
  const requests = input.RequestItems as Record<string, { Keys: Key[] }> | undefined
  if (requests) return Object.values(requests).flatMap(({ Keys }) => Keys.map(keyOf))
  return []
}

/** The items that a command writes; a condition that is only checked changes nothing. */
export const writtenKeys = (name: string, input: Input): string[] => {
  if (kindOfCommand(name) !== 'write') return []
  const writes = input.TransactItems as Record<string, { Key?: Key; Item?: Key }>[] | undefined
  if (!writes) return keysOf(input)
  return writes.flatMap(({ ConditionCheck, ...write }) => {
    const [first] = Object.values(write)
    return first ? [keyOf(first.Key ?? first.Item ?? {})] : []
  })
}

/** A command in one line: what it is, and what it is about. */
export const labelOf = (name: string, input: Input): string => {
  const about = [
    ...keysOf(input),
    ...(typeof input.UpdateExpression === 'string' ? [valuesOf(input)] : []),
    ...['IndexName', 'FunctionName', 'InvocationType', 'name', 'executionArn', 'taskToken', 'Key']
      .map(field => input[field])
      .filter(value => typeof value === 'string'),
    ...(name === 'QueryCommand' ? [valuesOf(input)] : []),
  ]
  return short(`${name.replace('Command', '')} ${about.join(' ')}`)
}

const MAX_VALUES_CHARS = 160

const valuesOf = (input: Input): string =>
  Object.values((input.ExpressionAttributeValues ?? {}) as Record<string, Record<string, unknown>>)
    .map(value => String(Object.values(value)[0]))
    .join(',')
    .slice(0, MAX_VALUES_CHARS)
