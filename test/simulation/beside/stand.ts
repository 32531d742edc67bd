import type { AttributeValue, DynamoDBServiceException } from '@aws-sdk/client-dynamodb'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import type { FakeTable } from '../table.ts'
import { isOtherwiseInDynoxide } from './dynoxide.ts'

/** A command that the two tables answered differently. */
export type Difference = { command: string; input: unknown; simulated: unknown; real: unknown }

type Stack = {
  add: (
    middleware: (
      next: (args: { input: object }) => Promise<{ output: object }>,
      context: { commandName: string },
    ) => (args: { input: object }) => Promise<{ output: object }>,
    options: { step: 'initialize'; priority: 'high'; name: string },
  ) => void
}

/** From now on every command of the process goes to both tables, and the real one's answer counts. */
export const standBeside = (table: FakeTable) => {
  const differences: Difference[] = []
  let commands = 0
  const stack = dynamodb().middlewareStack as unknown as Stack
  stack.add(
    (next, { commandName }) =>
      async args => {
        commands += 1
        const simulated = await settled(() => table.perform(commandName, args.input))
        const real = await settled(async () => (await next(args)).output)
        const answers = { simulated: comparable(simulated), real: comparable(real) }
        const isEqual = JSON.stringify(answers.simulated) === JSON.stringify(answers.real)
        const errors = { simulated: errorOf(simulated), real: errorOf(real) }
        if (!isEqual && !isOtherwiseInDynoxide(commandName, errors))
          differences.push({ command: commandName, input: args.input, ...answers })
        if ('error' in real) throw real.error
        return { output: real.output, response: {} }
      },
    { step: 'initialize', priority: 'high', name: 'beside' },
  )
  return { differences, commands: () => commands }
}

type Answer = { output: object } | { error: unknown }

const settled = async (work: () => object | Promise<object>): Promise<Answer> => {
  try {
    return { output: await work() }
  } catch (error) {
    // Whatever else fails is no answer.
    if (!(error instanceof Error && '$fault' in error)) throw error
    return { error }
  }
}

const errorOf = (answer: Answer) =>
  'error' in answer ? (answer.error as DynamoDBServiceException) : undefined

/** What two answers must have in common: all but texts for people and what is in no order. */
export const comparable = (answer: Answer): unknown => {
  // Without a filter ScannedCount is Count (AWS's reference of Query); dynoxide adds the item that a
  // page had no room for.
  if ('output' in answer)
    return plain({ ...answer.output, ScannedCount: undefined, $metadata: undefined })
  const { error } = answer
  const { name, Item, CancellationReasons } = error as DynamoDBServiceException & {
    Item?: object
    CancellationReasons?: { Code?: string; Item?: object }[]
  }
  const reasons = CancellationReasons?.map(reason => ({ Code: reason.Code, Item: reason.Item }))
  return plain({ name, Item, CancellationReasons: reasons })
}

/** Items in one order, whatever the order of their attributes and of sets' members. */
export const plainItems = (items: Record<string, AttributeValue>[]): unknown =>
  items.map(item => plain(item)).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

const UNORDERED = ['SS', 'NS', 'BS']

const plain = (value: unknown, name?: string): unknown => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) {
    const elements = value.map(element => plain(element))
    return name && UNORDERED.includes(name) ? elements.sort() : elements
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, part]) => part !== undefined)
  return Object.fromEntries(
    entries
      .map(([key, part]) => {
        // A batch comes in no order.
        if (key === 'Responses') return [key, Object.values(part as object).map(plainItems)]
        return [key, plain(part, key)]
      })
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  )
}
