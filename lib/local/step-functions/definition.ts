import validate from 'asl-validator'
import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions'
import * as z from 'zod'
import { AppError } from '../../core/errors.ts'
import { MAX_TIMER_SECONDS } from './limits.ts'

const Rule = z.looseObject({ ErrorEquals: z.array(z.string()) })

/** What of a state we read; its other fields pass through to the interpreter. */
const State = z.looseObject({
  Type: z.string(),
  Resource: z.string().optional(),
  TimeoutSeconds: z.number().optional(),
  TimeoutSecondsPath: z.string().optional(),
  Parameters: z.unknown().optional(),
  HeartbeatSeconds: z.number().optional(),
  Seconds: z.number().optional(),
  SecondsPath: z.string().optional(),
  Timestamp: z.string().optional(),
  TimestampPath: z.string().optional(),
  Retry: z.array(Rule).optional(),
  Catch: z.array(Rule).optional(),
  get Branches() {
    return z.array(Machine).optional()
  },
  get ItemProcessor() {
    return Machine.optional()
  },
  get Iterator() {
    return Machine.optional()
  },
})

const Machine = z.looseObject({
  TimeoutSeconds: z.number().optional(),
  get States(): z.ZodRecord<z.ZodString, typeof State> {
    return z.record(z.string(), State)
  },
})

type State = z.infer<typeof State>
type Machine = z.infer<typeof Machine>

/** Every state by name, those inside of Map and Parallel too: names are unique in a machine. */
export type States = Record<string, State>

/** What a Wait state of more than 24.8 days fails with, to be retried for the rest of its time. */
export const WAIT_GOES_ON = 'Espalier.WaitGoesOn'

/**
 * A definition made ready for the interpreter; throws VALIDATION_ERROR for one that AWS would
 * refuse or that would not run here as it runs there.
 */
export const prepare = (definition: object | string): { machine: StateMachine; states: States } => {
  const text = typeof definition === 'string' ? definition : JSON.stringify(definition)
  const { isValid, errorsText } = validate(JSON.parse(text))
  if (!isValid) throw invalid(errorsText('; '))

  const parsed = Machine.parse(JSON.parse(text))
  const states = statesOf(parsed)
  const complaints = Object.entries(states).flatMap(([name, state]) =>
    complaintsAbout(state).map(complaint => `${name}: ${complaint}`),
  )
  if (complaints.length > 0) throw invalid(complaints.join('; '))

  const local = localMachine(parsed) as unknown as StateMachineDefinition
  return { machine: new StateMachine(local, { validationOptions: { noValidate: true } }), states }
}

const invalid = (complaints: string): AppError =>
  new AppError('VALIDATION_ERROR', `The state machine's definition is not valid: ${complaints}`)

const machinesIn = (state: State): Machine[] => [
  ...(state.Branches ?? []),
  ...(state.ItemProcessor ? [state.ItemProcessor] : []),
  ...(state.Iterator ? [state.Iterator] : []),
]

const statesOf = (machine: Machine): States => {
  const own = Object.values(machine.States)
  const nested = own.flatMap(machinesIn).map(statesOf)
  return Object.assign({}, machine.States, ...nested)
}

const LAMBDA = /^arn:aws[\w-]*:(states:::lambda:invoke(\.waitForTaskToken)?$|lambda:)/

/** What the validator misses, and what the interpreter would run wrongly without a word. */
const complaintsAbout = (state: State): string[] => {
  const { Type, Resource = '', TimeoutSeconds = Number.POSITIVE_INFINITY, HeartbeatSeconds } = state
  const rules = [state.Retry ?? [], state.Catch ?? []]
  const complaints: [boolean, string][] = [
    [state.QueryLanguage === 'JSONata', 'JSONata is not supported'],
    ['HeartbeatSecondsPath' in state, 'HeartbeatSecondsPath is not supported'],
    [Type === 'Task' && !LAMBDA.test(Resource), `the resource ${Resource} is not supported`],
    [(HeartbeatSeconds ?? 0) >= TimeoutSeconds, 'HeartbeatSeconds must be below TimeoutSeconds'],
    [rules.some(isMisplaced), 'States.ALL must stand alone and last'],
    [(state.Seconds ?? 0) > MAX_TIMER_SECONDS, 'Seconds is too long here, use Timestamp'],
  ]
  return complaints.filter(([applies]) => applies).map(([, complaint]) => complaint)
}

const isMisplaced = (rules: z.infer<typeof Rule>[]): boolean =>
  rules.some(({ ErrorEquals }, index) => {
    const isLastAndAlone = index === rules.length - 1 && ErrorEquals.length === 1
    return ErrorEquals.includes('States.ALL') && !isLastAndAlone
  })

/** The machine that the interpreter runs, where it and AWS differ. */
const localMachine = (machine: Machine): Machine => {
  const { TimeoutSeconds, ...rest } = machine
  const States = Object.fromEntries(
    Object.entries(machine.States).map(([name, state]) => [name, localState(state)]),
  )
  const timeout = TimeoutSeconds === undefined ? {} : { TimeoutSeconds: capped(TimeoutSeconds) }
  return { ...rest, ...timeout, States }
}

const localState = (state: State): State => {
  // The interpreter takes this path for a field that is named `$`.
  const { ResultPath, ...rest } = state
  const local = ResultPath === undefined || ResultPath === '$' ? rest : state
  if (state.Type === 'Task' && state.TimeoutSecondsPath) return timedByPath(local)
  // Without a timeout, AWS waits for ever, and the interpreter for a minute.
  if (state.Type === 'Task') return { ...local, TimeoutSeconds: capped(state.TimeoutSeconds) }
  if (state.Type === 'Wait') return waitTask(local)
  return {
    ...local,
    ...(state.Branches && { Branches: state.Branches.map(localMachine) }),
    ...(state.ItemProcessor && { ItemProcessor: localMachine(state.ItemProcessor) }),
    ...(state.Iterator && { Iterator: localMachine(state.Iterator) }),
  }
}

/**
 * A timeout's path is one into the state's input, but the interpreter looks for it in what
 * Parameters made of that: so it goes along there, and the handler takes the two apart again.
 */
const timedByPath = ({ Parameters, TimeoutSecondsPath, ...rest }: State): State => ({
  ...rest,
  TimeoutSecondsPath: '$.timeoutSeconds',
  Parameters: {
    'timeoutSeconds.$': TimeoutSecondsPath,
    ...(Parameters === undefined ? { 'input.$': '$' } : { input: Parameters }),
  },
})

/** A Wait state as a task of ours: the interpreter's own ends at once past 24.8 days. */
const waitTask = ({ Seconds, SecondsPath, Timestamp, TimestampPath, ...rest }: State): State => ({
  ...rest,
  Type: 'Task',
  TimeoutSeconds: MAX_TIMER_SECONDS,
  Parameters: {
    'input.$': '$',
    ...(Seconds !== undefined && { seconds: Seconds }),
    ...(SecondsPath !== undefined && { 'seconds.$': SecondsPath }),
    ...(Timestamp !== undefined && { until: Timestamp }),
    ...(TimestampPath !== undefined && { 'until.$': TimestampPath }),
  },
  Retry: [
    { ErrorEquals: [WAIT_GOES_ON], IntervalSeconds: 1, MaxAttempts: 99_999_999, BackoffRate: 1 },
  ],
})

const capped = (seconds = MAX_TIMER_SECONDS): number => Math.min(seconds, MAX_TIMER_SECONDS)
