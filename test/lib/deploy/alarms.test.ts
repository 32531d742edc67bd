import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'
import {
  type Alarm,
  alarmsOf,
  CONCURRENCY_SHARE,
  comparisonOf,
  descriptionOf,
  LOG_LINES,
  MAX_ALARM_METRICS,
  sumOf,
} from '../../../lib/deploy/alarms.ts'

const { functions } = await routeTable()
const alarms = alarmsOf({ quota: 1_000 })
const named = (name: string): Alarm => {
  const alarm = alarms.find(each => each.name === name)
  if (!alarm) throw new Error(`There is no alarm ${name}.`)
  return alarm
}

/**
 * What AWS documents: each metric that we look at, with a set of dimensions under which it is there.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
 * https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
 * https://docs.aws.amazon.com/step-functions/latest/dg/procedure-cw-metrics.html
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
 */
const DOCUMENTED: Record<string, string[]> = {
  'AWS/SQS ApproximateNumberOfMessagesVisible': ['QueueName'],
  'AWS/Lambda Invocations': ['', 'FunctionName'],
  'AWS/Lambda Errors': ['', 'FunctionName'],
  'AWS/Lambda Throttles': ['', 'FunctionName'],
  'AWS/Lambda ClaimedAccountConcurrency': [''],
  'AWS/States ExecutionsFailed': ['StateMachineArn'],
  'AWS/States ExecutionsTimedOut': ['StateMachineArn'],
  'AWS/States ExecutionsAborted': ['StateMachineArn'],
  'AWS/ApiGateway 5xx': ['ApiId'],
  'AWS/DynamoDB ReadThrottleEvents': ['TableName', 'GlobalSecondaryIndexName,TableName'],
  'AWS/DynamoDB WriteThrottleEvents': ['TableName', 'GlobalSecondaryIndexName,TableName'],
  'AWS/DynamoDB SystemErrors': ['Operation,TableName'],
}

describe('an alarm', () => {
  it.each(alarms)('$name looks at metrics that AWS has, by their dimensions', ({ metrics }) => {
    for (const { namespace, name, dimensions } of metrics) {
      if (namespace === 'log-lines') {
        expect(LOG_LINES.map(({ event }) => event)).toContain(name)
        expect(dimensions).toEqual({})
      } else {
        const known = DOCUMENTED[`${namespace} ${name}`]
        expect(known).toContain(Object.keys(dimensions).sort().join())
      }
    }
  })

  it.each(alarms)('$name adds up as many metrics as one may, each of them once', ({ metrics }) => {
    expect(metrics.length).toBeLessThanOrEqual(MAX_ALARM_METRICS)
    expect(new Set(metrics.map(metric => JSON.stringify(metric))).size).toBe(metrics.length)
  })

  it.each(alarms)('$name looks at a day at most, in periods that CloudWatch takes', alarm => {
    expect(alarm.periodSeconds % 60).toBe(0)
    expect(alarm.periodSeconds * alarm.periods).toBeLessThanOrEqual(86_400)
  })

  it.each(alarms)('$name is about functions that there are', ({ metrics }) => {
    for (const { dimensions } of metrics)
      for (const subject of Object.values(dimensions))
        if (subject.of === 'function')
          expect(functions.map(({ name }) => name)).toContain(subject.name)
  })

  it.each(alarms)('$name says in operating.md what to do', ({ name, anchor }) => {
    const page = readFileSync('docs/operating.md', 'utf8')
    const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} -]/gu, '')
        .replaceAll(' ', '-'),
    )
    expect(anchors).toContain(anchor)
    expect(page).toContain(`\`${name}\``)
  })

  it('has a name of its own', () => {
    expect(new Set(alarms.map(({ name }) => name)).size).toBe(alarms.length)
  })

  it('goes off where there is no data only if it waits for a sign of life', () => {
    expect(alarms.filter(({ missing }) => missing === 'alarming').map(({ name }) => name)).toEqual([
      'sweeper-stopped',
    ])
    expect(comparisonOf(named('sweeper-stopped'))).toBe('LessThanThreshold')
    expect(comparisonOf(named('dead-letters'))).toBe('GreaterThanOrEqualToThreshold')
  })

  it('of concurrency goes by the account’s, and is left out where that is unknown', () => {
    expect(named('concurrency').threshold).toBe(1_000 * CONCURRENCY_SHARE)
    expect(alarmsOf({ quota: 10 }).at(-1)?.threshold).toBe(8)
    expect(alarmsOf({ quota: undefined })).toHaveLength(alarms.length - 1)
  })

  it('adds up metrics of which some have no data', () => {
    expect(sumOf(['m0', 'm1'])).toBe('FILL(m0, 0) + FILL(m1, 0)')
  })

  it('tells whoever gets its e-mail what is so, and where it says what to do', () => {
    expect(descriptionOf(named('dead-letters'))).toMatch(
      /^An event .*docs\/operating\.md#dead-letters$/,
    )
    // CloudWatch's limit of a description, in characters.
    for (const alarm of alarms) expect(descriptionOf(alarm).length).toBeLessThanOrEqual(1_024)
  })

  it.each(LOG_LINES)('counts "$event", which the sweeper logs', ({ event }) => {
    expect(readFileSync('lib/workflow/sweep.ts', 'utf8')).toContain(`'${event}'`)
  })
})
