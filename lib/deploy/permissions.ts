import { WAKE_FUNCTION } from '../call/invoke.ts'
import type { FunctionSpec } from '../http/route-table.ts'
import { NOTIFY_FUNCTION } from '../notification/announce.ts'
import { eventRulesOf } from './dead-letters.ts'
import { type Access, grantsOf } from './grants.ts'

/** What permissions are about, as ARNs and the beginnings of ARNs. */
export type Targets = {
  table: string
  bucket: string
  stateMachine: string
  /** Up to the deployment's prefix: a function's name without it follows. */
  functions: string
  /** Up to the name of an identity that SES sends for: an address, or a domain. */
  identities: string
  /** The address that e-mails come from; empty where none are sent. */
  emailSender: string
  /** The function's own log group. */
  logGroup: string
  /** The queue of events that nobody could handle. */
  deadLetters: string
}

/** An IAM statement that allows something, as `sst.aws.Function` takes it. */
export type Statement = {
  actions: string[]
  resources: string[]
  conditions?: { test: string; variable: string; values: string[] }[]
}

/**
 * The few permissions that a function's reach asks for: actions by name, rows by leading key,
 * objects by the beginning of their keys.
 */
export const permissionsOf = (
  spec: Pick<FunctionSpec, 'name' | 'reach' | 'tool' | 'handsOnTo'>,
  targets: Targets,
): Statement[] => [
  {
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    resources: [`${targets.logGroup}:*`],
  },
  ...rowStatements(spec, targets),
  ...listStatements(spec, targets),
  ...objectStatements(spec, targets),
  ...objectListStatements(spec, targets),
  ...serviceStatements(spec, targets),
  // Lambda writes there by the function's role; no code of ours does.
  ...(eventRulesOf(spec) === undefined
    ? []
    : [{ actions: ['sqs:SendMessage'], resources: [targets.deadLetters] }]),
]

const rowStatements = (spec: Pick<FunctionSpec, 'reach' | 'tool'>, { table }: Targets) =>
  merged(grantsOf(spec).flatMap(({ rows = [] }) => rows)).map(({ actions, keys }) => ({
    actions: actions.map(action => `dynamodb:${action}`),
    resources: [table],
    conditions: leadingKeys(keys),
  }))

const listStatements = (spec: Pick<FunctionSpec, 'reach' | 'tool'>, { table }: Targets) => {
  const lists = grantsOf(spec).flatMap(grant => grant.lists ?? [])
  return [...new Set(lists.map(({ index }) => index))].map(index => ({
    actions: ['dynamodb:Query'],
    resources: [`${table}/index/${index}`],
    conditions: leadingKeys(
      lists.filter(list => list.index === index).flatMap(({ keys }) => [...keys]),
    ),
  }))
}

const objectStatements = (spec: Pick<FunctionSpec, 'reach' | 'tool'>, { bucket }: Targets) =>
  merged(grantsOf(spec).flatMap(({ objects = [] }) => objects)).map(({ actions, keys }) => ({
    actions: actions.map(action => `s3:${action}`),
    resources: keys.map(key => `${bucket}/${key}`),
  }))

const objectListStatements = (spec: Pick<FunctionSpec, 'reach' | 'tool'>, { bucket }: Targets) => {
  const prefixes = grantsOf(spec).flatMap(({ objectLists = [] }) => objectLists)
  if (prefixes.length === 0) return []
  const conditions = [{ test: 'StringLike', variable: 's3:prefix', values: [...prefixes] }]
  return [{ actions: ['s3:ListBucket'], resources: [bucket], conditions }]
}

const serviceStatements = (
  { name, reach, handsOnTo }: Pick<FunctionSpec, 'name' | 'reach' | 'handsOnTo'>,
  { stateMachine, functions, identities, emailSender }: Targets,
): Statement[] => [
  ...(reach.includes('workflow')
    ? [
        { actions: ['states:StartExecution'], resources: [stateMachine] },
        {
          actions: ['states:DescribeExecution'],
          resources: [`${stateMachine.replace(':stateMachine:', ':execution:')}:*`],
        },
        // AWS names no resource for it; what limits it is the token, which nobody can guess.
        { actions: ['states:SendTaskSuccess'], resources: ['*'] },
      ]
    : []),
  ...(reach.includes('operations')
    ? [{ actions: ['lambda:InvokeFunction'], resources: [`${functions}tool-*`] }]
    : []),
  ...(reach.includes('announce')
    ? [{ actions: ['lambda:InvokeFunction'], resources: [functions + NOTIFY_FUNCTION] }]
    : []),
  ...(reach.includes('notify') && emailSender !== ''
    ? [
        {
          actions: ['ses:SendEmail'],
          // The address is an identity of its own, or its domain is one: SES goes by whichever is.
          resources: [emailSender, domainOf(emailSender)].map(identity => identities + identity),
          conditions: [
            { test: 'StringEquals', variable: 'ses:FromAddress', values: [emailSender] },
          ],
        },
      ]
    : []),
  ...(reach.includes('itself')
    ? [
        {
          actions: ['lambda:InvokeFunction'],
          // Only what runs a call tells of its end.
          resources: (handsOnTo ?? [name, WAKE_FUNCTION]).map(each => `${functions}${each}`),
        },
      ]
    : []),
]

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/**
 * Each action with every key that any grant allows it, and actions of the same keys together.
 * One statement must allow all keys of a batched read: two that allow half of it each don't.
 */
const merged = <Action extends string>(accesses: Access<Action>[]): Access<Action>[] => {
  const keysOf = new Map<Action, Set<string>>()
  for (const { actions, keys } of accesses)
    for (const action of actions)
      keysOf.set(action, new Set([...(keysOf.get(action) ?? []), ...keys]))
  const groups = new Map<string, { actions: Action[]; keys: string[] }>()
  for (const [action, set] of keysOf) {
    const keys = [...set].sort()
    const group = groups.get(keys.join()) ?? { actions: [], keys }
    group.actions.push(action)
    groups.set(keys.join(), group)
  }
  return [...groups.values()]
}

/**
 * Only these leading keys. `ForAllValues` is also true of a request that has none, such as a
 * scan, and none of our actions is one.
 */
const leadingKeys = (keys: readonly string[]) => [
  { test: 'ForAllValues:StringLike', variable: 'dynamodb:LeadingKeys', values: [...keys] },
]
