import type { AlarmOptions } from '../lib/deploy/alarm-options.ts'
import {
  type Alarm,
  alarmsOf,
  comparisonOf,
  descriptionOf,
  LOG_LINES,
  type Metric,
  type Subject,
  sumOf,
} from '../lib/deploy/alarms.ts'

type Text = $util.Input<string>

/** What alarms look at. */
export type Watched = {
  prefix: string
  functions: Map<string, sst.aws.Function>
  deadLetters: sst.aws.Queue
  data: sst.aws.Dynamo
  api: sst.aws.ApiGatewayV2
  stateMachine: aws.sfn.StateMachine
  /** How many functions the account may run at once, where that is known. */
  quota: number | undefined
}

/**
 * Alarms with the topic that tells of them. The topic is not encrypted: CloudWatch can't publish to
 * one with the key that AWS manages, and what is said names no more than alarms.
 */
export const makeAlarms = (watched: Watched, { email }: AlarmOptions) => {
  const topic = new aws.sns.Topic('Alarms', { name: `${watched.prefix}alarms` })
  if (email !== undefined)
    new aws.sns.TopicSubscription('AlarmsEmail', {
      topic: topic.arn,
      protocol: 'email',
      endpoint: email,
    })
  for (const line of LOG_LINES) countLines(line, watched)
  for (const alarm of alarmsOf(watched))
    new aws.cloudwatch.MetricAlarm(`Alarm-${alarm.name}`, {
      name: watched.prefix + alarm.name,
      alarmDescription: descriptionOf(alarm),
      ...measureOf(alarm, watched),
      comparisonOperator: comparisonOf(alarm),
      threshold: alarm.threshold,
      evaluationPeriods: alarm.periods,
      datapointsToAlarm: alarm.periods,
      treatMissingData: alarm.missing === 'alarming' ? 'breaching' : 'notBreaching',
      alarmActions: [topic.arn],
      okActions: [topic.arn],
    })
  return topic
}

/** One metric as it is, or the sum of several. */
const measureOf = ({ metrics, statistic, periodSeconds }: Alarm, watched: Watched) => {
  const [first] = metrics
  if (first && metrics.length === 1) {
    const { namespace, metricName, dimensions } = metricOf(first, watched)
    return { namespace, metricName, dimensions, statistic, period: periodSeconds }
  }
  const ids = metrics.map((_, index) => `m${index}`)
  return {
    metricQueries: [
      { id: 'sum', expression: sumOf(ids), label: 'Sum', returnData: true },
      ...metrics.map((metric, index) => ({
        id: `m${index}`,
        metric: { ...metricOf(metric, watched), stat: statistic, period: periodSeconds },
      })),
    ],
  }
}

const metricOf = ({ namespace, name, dimensions }: Metric, watched: Watched) => ({
  namespace: namespace === 'log-lines' ? linesNamespace(watched) : namespace,
  metricName: name,
  dimensions: Object.fromEntries(
    Object.entries(dimensions).map(([dimension, subject]) => [
      dimension,
      subjectIn(subject, watched),
    ]),
  ),
})

const subjectIn = (subject: Subject, watched: Watched): Text => {
  switch (subject.of) {
    case 'dead-letters':
      return watched.deadLetters.nodes.queue.name
    case 'table':
      return watched.data.name
    case 'api':
      return watched.api.nodes.api.id
    case 'state-machine':
      return watched.stateMachine.arn
    case 'function':
      return watched.prefix + subject.name
    case 'text':
      return subject.text
    default:
      return subject satisfies never
  }
}

const countLines = ({ event, functionName }: (typeof LOG_LINES)[number], watched: Watched) => {
  const watchedFunction = watched.functions.get(functionName)
  if (!watchedFunction) throw new Error(`There is no function "${functionName}" to count lines of.`)
  const groupName = `/aws/lambda/${watched.prefix}${functionName}`
  new aws.cloudwatch.LogMetricFilter(`Lines-${event}`, {
    name: watched.prefix + event,
    // Known beforehand, and there only once the group is.
    logGroupName: $output(
      watchedFunction.nodes.logGroup.apply(group => group?.name ?? $output(groupName)),
    ),
    pattern: `{ $.event = "${event}" }`,
    metricTransformation: { namespace: linesNamespace(watched), name: event, value: '1' },
  })
}

/** Metrics of one deployment, apart from those of others in the account. */
const linesNamespace = ({ prefix }: Pick<Watched, 'prefix'>) => `${prefix}logs`
