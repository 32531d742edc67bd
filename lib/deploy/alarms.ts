import { WAKE_FUNCTION } from '../call/invoke.ts'
import { INDEXES } from '../data/definition.ts'
import { NOTIFY_FUNCTION } from '../notification/announce.ts'

/** What a dimension's value is in a deployment; functions go by their names after the prefix. */
export type Subject =
  | { of: 'dead-letters' | 'table' | 'api' | 'state-machine' }
  | { of: 'function'; name: string }
  | { of: 'text'; text: string }

/** One metric of CloudWatch; one of `log-lines` counts lines of our own logs. */
export type Metric = {
  namespace:
    | 'AWS/SQS'
    | 'AWS/Lambda'
    | 'AWS/States'
    | 'AWS/ApiGateway'
    | 'AWS/DynamoDB'
    | 'log-lines'
  name: string
  dimensions: Record<string, Subject>
}

/** When operators are told, and why. Several metrics are added up. */
export type Alarm = {
  name: string
  metrics: readonly Metric[]
  statistic: 'Sum' | 'Maximum'
  periodSeconds: number
  /** How many periods in a row it has to be so. */
  periods: number
  when: 'at-least' | 'below'
  threshold: number
  /** What no data means: of most metrics, that there was nothing to count. */
  missing: 'fine' | 'alarming'
  /** The beginning of the e-mail: what is so, in a sentence. */
  why: string
  /** The heading's anchor in docs/operating.md that says what to do. */
  anchor: string
}

/** Metrics that one alarm may add up: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Create-alarm-on-metric-math-expression.html */
export const MAX_ALARM_METRICS = 10
const MINUTE = 60

/**
 * Lines of logs that are counted, each as a metric of its event's name. The sweeper moves on what
 * should have moved by itself, and says so.
 */
export const LOG_LINES = [
  { event: 'task-swept', functionName: 'sweep' },
  { event: 'sweep-failed', functionName: 'sweep' },
] as const

const text = (value: string): Subject => ({ of: 'text', text: value })

const sqs = (name: string): Metric => ({
  namespace: 'AWS/SQS',
  name,
  dimensions: { QueueName: { of: 'dead-letters' } },
})

const lambda = (metric: string, name: string): Metric => ({
  namespace: 'AWS/Lambda',
  name: metric,
  dimensions: { FunctionName: { of: 'function', name } },
})

const states = (name: string): Metric => ({
  namespace: 'AWS/States',
  name,
  dimensions: { StateMachineArn: { of: 'state-machine' } },
})

const dynamo = (name: string, dimensions: Record<string, Subject> = {}): Metric => ({
  namespace: 'AWS/DynamoDB',
  name,
  dimensions: { TableName: { of: 'table' }, ...dimensions },
})

const logLines = (event: (typeof LOG_LINES)[number]['event']): Metric => ({
  namespace: 'log-lines',
  name: event,
  dimensions: {},
})

const ALARMS: readonly Alarm[] = [
  {
    name: 'dead-letters',
    metrics: [sqs('ApproximateNumberOfMessagesVisible')],
    statistic: 'Maximum',
    periodSeconds: 5 * MINUTE,
    periods: 1,
    when: 'at-least',
    threshold: 1,
    missing: 'fine',
    why: 'An event could not be handled, however often it was tried.',
    anchor: 'dead-letters',
  },
  {
    // A task that is helped once was unlucky; one that is helped again and again is stuck.
    name: 'stuck-tasks',
    metrics: [logLines('task-swept')],
    statistic: 'Sum',
    periodSeconds: 10 * MINUTE,
    periods: 3,
    when: 'at-least',
    threshold: 1,
    missing: 'fine',
    why: 'For half an hour the sweeper has been moving on tasks that should move by themselves.',
    anchor: 'stuck-tasks',
  },
  {
    name: 'sweep-failures',
    metrics: [logLines('sweep-failed')],
    statistic: 'Sum',
    periodSeconds: 10 * MINUTE,
    periods: 3,
    when: 'at-least',
    threshold: 1,
    missing: 'fine',
    why: 'For half an hour the sweeper has failed to help a task or a call.',
    anchor: 'stuck-tasks',
  },
  {
    name: 'sweeper-stopped',
    metrics: [lambda('Invocations', 'sweep')],
    statistic: 'Sum',
    periodSeconds: 5 * MINUTE,
    periods: 2,
    when: 'below',
    threshold: 1,
    missing: 'alarming',
    why: 'The sweeper, which runs every minute, has not run for ten.',
    anchor: 'the-sweeper-has-stopped',
  },
  ...[
    { name: 'tick', threshold: 5 },
    { name: 'park', threshold: 5 },
    { name: 'sweep', threshold: 3 },
    { name: WAKE_FUNCTION, threshold: 3 },
    { name: NOTIFY_FUNCTION, threshold: 3 },
  ].map(
    ({ name, threshold }): Alarm => ({
      name: `${name}-errors`,
      metrics: [lambda('Errors', name)],
      statistic: 'Sum',
      periodSeconds: 15 * MINUTE,
      periods: 1,
      when: 'at-least',
      threshold,
      missing: 'fine',
      why: `The function "${name}" has failed ${threshold} times or more within a quarter of an hour.`,
      anchor: 'functions-that-fail',
    }),
  ),
  {
    name: 'executions',
    metrics: ['ExecutionsFailed', 'ExecutionsTimedOut', 'ExecutionsAborted'].map(states),
    statistic: 'Sum',
    periodSeconds: 15 * MINUTE,
    periods: 1,
    when: 'at-least',
    threshold: 1,
    missing: 'fine',
    why: 'An execution of a task was given up: its ticks failed for minutes, or someone stopped it.',
    anchor: 'executions-that-fail',
  },
  {
    name: 'api-errors',
    metrics: [{ namespace: 'AWS/ApiGateway', name: '5xx', dimensions: { ApiId: { of: 'api' } } }],
    statistic: 'Sum',
    periodSeconds: 5 * MINUTE,
    periods: 1,
    when: 'at-least',
    threshold: 5,
    missing: 'fine',
    why: 'The API has answered five requests or more with an error of its own.',
    anchor: 'the-api-fails',
  },
  {
    // Without a dimension: of all functions of the account here, which share its concurrency.
    name: 'throttles',
    metrics: [{ namespace: 'AWS/Lambda', name: 'Throttles', dimensions: {} }],
    statistic: 'Sum',
    periodSeconds: 5 * MINUTE,
    periods: 3,
    when: 'at-least',
    threshold: 10,
    missing: 'fine',
    why: 'For a quarter of an hour more functions were asked for than may run at once.',
    anchor: 'throttles',
  },
  {
    name: 'table-throttles',
    metrics: [
      ...['ReadThrottleEvents', 'WriteThrottleEvents'].flatMap(name => [
        dynamo(name),
        ...Object.keys(INDEXES).map(index =>
          dynamo(name, { GlobalSecondaryIndexName: text(index) }),
        ),
      ]),
    ],
    statistic: 'Sum',
    periodSeconds: 5 * MINUTE,
    periods: 3,
    when: 'at-least',
    threshold: 10,
    missing: 'fine',
    why: 'For a quarter of an hour the table has been asked for more than it gives.',
    anchor: 'the-table',
  },
  {
    name: 'table-errors',
    metrics: [
      'GetItem',
      'BatchGetItem',
      'Query',
      'PutItem',
      'UpdateItem',
      'DeleteItem',
      'TransactWriteItems',
    ].map(operation => dynamo('SystemErrors', { Operation: text(operation) })),
    statistic: 'Sum',
    periodSeconds: 5 * MINUTE,
    periods: 2,
    when: 'at-least',
    threshold: 5,
    missing: 'fine',
    why: 'DynamoDB itself has been failing for ten minutes.',
    anchor: 'the-table',
  },
]

/** The share of the account's concurrency from which on there is little left. */
export const CONCURRENCY_SHARE = 0.8

/** All alarms of a deployment in an account that has room for so many functions at once. */
export const alarmsOf = ({ quota }: { quota: number | undefined }): readonly Alarm[] =>
  quota === undefined ? ALARMS : [...ALARMS, concurrency(quota)]

/** What is in use or reserved of what the account's functions may be at once. */
const concurrency = (quota: number): Alarm => ({
  name: 'concurrency',
  metrics: [{ namespace: 'AWS/Lambda', name: 'ClaimedAccountConcurrency', dimensions: {} }],
  statistic: 'Maximum',
  periodSeconds: 5 * MINUTE,
  periods: 3,
  when: 'at-least',
  threshold: Math.max(1, Math.floor(quota * CONCURRENCY_SHARE)),
  missing: 'fine',
  why: `For a quarter of an hour ${CONCURRENCY_SHARE * 100} % of the ${quota} functions that the account may run at once have been in use or reserved.`,
  anchor: 'throttles',
})

/** What CloudWatch calls it. */
export const comparisonOf = ({ when }: Pick<Alarm, 'when'>): string =>
  when === 'below' ? 'LessThanThreshold' : 'GreaterThanOrEqualToThreshold'

/** The sum of an alarm's metrics by their ids; one that has no data counts as nothing. */
export const sumOf = (ids: readonly string[]): string => ids.map(id => `FILL(${id}, 0)`).join(' + ')

/** The words of an alarm's e-mail. */
export const descriptionOf = ({ why, anchor }: Pick<Alarm, 'why' | 'anchor'>): string =>
  `${why} What to do: docs/operating.md#${anchor}`
