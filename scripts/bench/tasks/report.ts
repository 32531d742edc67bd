import { CONFLICT_RATE, type Family, MAX_GROWTH } from './children.ts'
import type { TaskFigures } from './measure.ts'
import { PRICES_AS_OF, PRICES_REGION } from './prices.ts'
import type { StepFigures } from './steps.ts'
import type { Used } from './used.ts'

const PER = 1_000_000

/** The figures of tasks as lines to read. */
export const reportTasks = ({ node, steps, approval, children, cost }: TaskFigures): string =>
  [
    `Node ${node}. Tasks on the embedded services: the deployed handlers and state machine, and a scripted model that answers at once.`,
    '',
    `One step with one call, of ${steps.tasks} tasks of ${steps.steps}. × is the ratio to the bare loop: the same model, the call a function in its process, all in memory`,
    ...(['p50Ms', 'p75Ms'] as const).map(name => stepLine(name, steps)),
    `             of a step, ${ms(steps.perStep.waitedMs)} on average wait for the ${count(steps.perStep.requests)} answers of the embedded DynamoDB`,
    '',
    'What is used (state transitions are counted in the history of the local Step Functions)',
    `  ${HEADINGS.map((heading, index) => heading.padStart(index === 0 ? 0 : WIDTH)).join('')}`,
    usedLine('a step more, with its call', steps.perStep),
    usedLine('a task, beside its steps', steps.perTask),
    usedLine('an approval, decided by HTTP', approval),
    usedLine('a child that makes one step', children.families[0]?.perChild),
    '  Requests, by command:',
    byCommandLine('a step', steps.perStep),
    byCommandLine('an approval', approval),
    byCommandLine('a child', children.families[0]?.perChild),
    '',
    `Children: from the spawn to the parent's next call, less one child's own ${ms(children.childMs)}`,
    ...children.families.map(familyLine),
    `  A child's requests from ${children.families[0]?.children} to ${children.families.at(-1)?.children}: ${percent(children.growth.plain)}, with conflicts ${percent(children.growth.conflicts)} (at most ${percent(MAX_GROWTH)})`,
    '',
    `A million tasks of ${steps.steps} steps, one call each with 2 KB, at AWS's list prices (${PRICES_REGION}, ${PRICES_AS_OF}); × is the ratio to durable functions`,
    `  ${times(cost.ratio)}  here: ${dollars(cost.own.total)} (DynamoDB ${dollars(cost.own.dynamodb)}, Step Functions ${dollars(cost.own.stepFunctions)}, Lambda ${dollars(cost.own.lambda)} at the times measured here, S3 ${dollars(cost.own.s3)})`,
    `            Lambda durable functions: ${dollars(cost.durable.total)} (${cost.durable.count} operations ${dollars(cost.durable.operations)}, data ${dollars(cost.durable.data)}, Lambda ${dollars(cost.durable.lambda)})`,
    '  Assumed: there, an operation is the start, each model request and each call (a step each, no waits, no retries);',
    '  what they return is data written, and retained for the default 14 days; calls run in the one function, at the',
    '  bare loop’s time. On both sides without the model’s own time, the API’s gateway, and what is stored afterwards.',
    '',
  ].join('\n')

const stepLine = (name: 'p50Ms' | 'p75Ms', steps: StepFigures): string => {
  const { own, bare, ratio } = steps[name]
  return `  ${times(ratio)}  ${name.slice(0, 3)}: ${own.toFixed(1)} ms (bare: ${bare.toFixed(3)} ms; the framework's own: ${(own - bare).toFixed(1)} ms)`
}

const NAME_WIDTH = 30
const WIDTH = 13
const HEADINGS = [
  ''.padEnd(NAME_WIDTH),
  'requests',
  'read units',
  'write units',
  'transitions',
  'invocations',
  'GB-seconds',
]

const usedLine = (name: string, used: Used | undefined): string => {
  if (!used) return `  ${name}`
  const { requests, readUnits, writeUnits, stateTransitions, invocations, gbSeconds } = used
  const counts = [requests, readUnits, writeUnits, stateTransitions, invocations]
  const cells = [...counts.map(count), gbSeconds.toFixed(3)].map(cell => cell.padStart(WIDTH))
  return `  ${name.padEnd(NAME_WIDTH)}${cells.join('')}`
}

const byCommandLine = (name: string, used: Used | undefined): string =>
  `    ${name}: ${Object.entries(used?.byCommand ?? {})
    .map(([command, sent]) => `${count(sent)} ${command}`)
    .join(', ')}`

const familyLine = ({ children, conflicts, ms: total, msPerChild, perChild }: Family): string =>
  `  ${String(children).padStart(5)}${conflicts ? ` with ${percent(CONFLICT_RATE)} conflicts` : ''}: ${ms(total)}, ${ms(msPerChild)} each; ${count(perChild.requests)} requests and ${count(perChild.stateTransitions)} transitions a child`

const count = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(2)
const ms = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} ms`
/** Without the sign that a little less than nothing has. */
const percent = (share: number): string => `${Math.round(100 * share) + 0} %`
const dollars = (one: number): string => `$${(one * PER).toFixed(2)}`
const times = (ratio: number): string => `${ratio.toFixed(2)}×`.padStart(9)
