import { setTimeout as sleep } from 'node:timers/promises'
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AppError } from '../../../lib/core/errors.ts'
import { setLogSink } from '../../../lib/core/log.ts'
import { type LocalStepFunctions, startStepFunctions } from '../../../lib/local/step-functions.ts'

const stateMachineArn = 'arn:aws:states:us-east-1:000000000000:stateMachine:tasks'

const caught = { ResultPath: '$.error' }
const tick = {
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Parameters: { FunctionName: 'tick', Payload: { 'taskId.$': '$.taskId' } },
  ResultSelector: { 'outcome.$': '$.Payload.outcome', 'until.$': '$.Payload.until' },
  ResultPath: '$.tick',
  Retry: [
    {
      ErrorEquals: ['Lambda.TooManyRequestsException', 'Flaky'],
      IntervalSeconds: 1,
      BackoffRate: 2,
      MaxAttempts: 2,
    },
  ],
  Catch: [{ ErrorEquals: ['States.ALL'], ...caught, Next: 'Failed' }],
  Next: 'Choose',
}
const park = {
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
  Parameters: {
    FunctionName: 'park',
    Payload: { 'taskId.$': '$.taskId', 'token.$': '$$.Task.Token' },
  },
  ResultPath: '$.wake',
  TimeoutSeconds: 1,
  Catch: [
    { ErrorEquals: ['States.TaskFailed'], ...caught, Next: 'Failed' },
    { ErrorEquals: ['States.Timeout'], ...caught, Next: 'Tick' },
  ],
  Next: 'Tick',
}
const when = (outcome: string, Next: string) => ({
  Variable: '$.tick.outcome',
  StringEquals: outcome,
  Next,
})
const definition = {
  StartAt: 'Tick',
  States: {
    Tick: tick,
    Choose: {
      Type: 'Choice',
      Choices: [
        when('again', 'Tick'),
        when('park', 'Park'),
        when('wait', 'Wait until'),
        when('done', 'Done'),
      ],
      Default: 'Failed',
    },
    Park: park,
    'Wait until': { Type: 'Wait', TimestampPath: '$.tick.until', Next: 'Tick' },
    Done: { Type: 'Succeed' },
    Failed: { Type: 'Fail', Error: 'TaskLost', Cause: 'A tick failed.' },
  },
}

type Payload = { taskId: string; token: string }
type Answer = { payload: unknown; functionError?: string }

/** What the two functions do; each test sets its own. */
let onTick: (payload: Payload) => Promise<Answer>
let onPark: (payload: Payload) => Promise<Answer>
let parked: string[]
let service: LocalStepFunctions
let client: SFNClient

const outcomes = (...list: string[]) => {
  let index = 0
  return async () => ({ payload: { outcome: list[index++] ?? 'done', until: '' } })
}

const clientOf = ({ url }: { url: string }) =>
  new SFNClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  })

beforeEach(async () => {
  setLogSink(() => {})
  parked = []
  onTick = outcomes('done')
  onPark = async ({ token }) => {
    parked.push(token)
    return { payload: null }
  }
  service = await startStepFunctions({
    definition,
    stateMachineArn,
    invoke: (name, payload) =>
      name === 'tick' ? onTick(payload as Payload) : onPark(payload as Payload),
  })
  client = clientOf(service)
})

afterEach(() => service.close())

const start = async (name?: string, input: unknown = { taskId: 'task_1' }) => {
  const command = { stateMachineArn, input: JSON.stringify(input), ...(name ? { name } : {}) }
  return (await client.send(new StartExecutionCommand(command))).executionArn ?? ''
}
const describe = (executionArn: string) =>
  client.send(new DescribeExecutionCommand({ executionArn }))

const end = (executionArn: string) =>
  vi.waitFor(
    async () => {
      const execution = await describe(executionArn)
      expect(execution.status).not.toBe('RUNNING')
      return execution
    },
    { timeout: 15_000, interval: 20 },
  )
const token = (count = 1) =>
  vi.waitFor(
    () => {
      expect(parked).toHaveLength(count)
      return parked.at(-1) ?? ''
    },
    { timeout: 10_000, interval: 5 },
  )
const succeed = (taskToken: string, output: unknown = {}) =>
  client.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(output) }))
const nameOf = (thrown: unknown) => (thrown instanceof Error ? thrown.name : thrown)

test('an execution ticks until it is done, and tells its input, output and times', async () => {
  onTick = outcomes('again', 'again', 'done')
  const execution = await end(await start('task_1-1'))
  expect(execution).toMatchObject({
    status: 'SUCCEEDED',
    name: 'task_1-1',
    executionArn: 'arn:aws:states:us-east-1:000000000000:execution:tasks:task_1-1',
    stateMachineArn,
    input: '{"taskId":"task_1"}',
  })
  expect(JSON.parse(execution.output ?? '')).toMatchObject({
    taskId: 'task_1',
    tick: { outcome: 'done' },
  })
  expect(execution.stopDate?.getTime()).toBeGreaterThanOrEqual(execution.startDate?.getTime() ?? 0)
  // Three ticks, three choices and the end.
  expect(service.transitions()).toBe(7)
  expect(service.running()).toBe(0)
})

test('a loop of 2,000 ticks runs through, within the limit on history', async () => {
  onTick = outcomes(...Array(1_999).fill('again'))
  const execution = await end(await start())
  expect(execution.status).toBe('SUCCEEDED')
  expect(service.transitions()).toBe(4_001)
})

test('an execution that fills its history fails, as it would in AWS', async () => {
  onTick = async () => ({ payload: { outcome: 'again', until: '' } })
  const execution = await end(await start())
  expect(execution).toMatchObject({ status: 'FAILED', error: 'States.Runtime' })
  expect(execution.cause).toContain('25000')
})

test('a token wait ends with the output that was sent, and its token is then gone', async () => {
  onTick = outcomes('park', 'done')
  const arn = await start()
  const first = await token()
  expect(service.waiting()).toBe(1)
  expect(first.length).toBeGreaterThan(40)

  await succeed(first, { decided: true })
  const execution = await end(arn)
  expect(JSON.parse(execution.output ?? '').wake).toEqual({ decided: true })
  expect(service.waiting()).toBe(0)
  expect(await succeed(first).catch(nameOf)).toBe('TaskTimedOut')
})

test('of two answers to one token at the same time, one is taken', async () => {
  onTick = outcomes('park', 'done')
  await start()
  const taskToken = await token()
  const answers = await Promise.all([1, 2, 3].map(n => succeed(taskToken, n).catch(nameOf)))
  expect(answers.filter(answer => answer === 'TaskTimedOut')).toHaveLength(2)
})

test('a token may be answered before its function has returned, which may then fail', async () => {
  onTick = outcomes('park', 'done')
  onPark = async payload => {
    await succeed(payload.token, 'early')
    await sleep(50)
    return { payload: { errorType: 'Late' }, functionError: 'Unhandled' }
  }
  const execution = await end(await start())
  expect(execution.status).toBe('SUCCEEDED')
  expect(JSON.parse(execution.output ?? '').wake).toBe('early')
  await sleep(60)
})

test('a wait whose function fails goes to its Catch', async () => {
  onTick = outcomes('park')
  onPark = async () => ({ payload: { errorType: 'Broken' }, functionError: 'Unhandled' })
  expect(await end(await start())).toMatchObject({ status: 'FAILED', error: 'TaskLost' })
})

test('a wait that times out is caught by States.Timeout only, and its token is gone', async () => {
  onTick = outcomes('park', 'park', 'done')
  const arn = await start()
  const first = await token(1)
  const second = await token(2)
  expect(second).not.toBe(first)
  expect(await succeed(first).catch(nameOf)).toBe('TaskTimedOut')
  await succeed(second)
  const execution = await end(arn)
  expect(execution.status).toBe('SUCCEEDED')
  expect(JSON.parse(execution.output ?? '').error).toMatchObject({ Error: 'States.Timeout' })
})

test('a failure that is sent to a token goes to its Catch', async () => {
  onTick = outcomes('park')
  const arn = await start()
  const taskToken = await token()
  await client.send(new SendTaskFailureCommand({ taskToken, error: 'Nope', cause: 'why' }))
  expect(await end(arn)).toMatchObject({ status: 'FAILED', error: 'TaskLost' })
})

test('junk is an InvalidToken, and so is what no service of ours made', async () => {
  for (const junk of ['junk', '', 'x'.repeat(2_000), 'local.short']) {
    expect(await succeed(junk).catch(nameOf)).toBe('InvalidToken')
  }
  // One of an earlier process: it was good once.
  expect(await succeed(`local.${'a'.repeat(43)}`).catch(nameOf)).toBe('TaskTimedOut')
  expect(await client.send(new SendTaskHeartbeatCommand({ taskToken: 'junk' })).catch(nameOf)).toBe(
    'InvalidToken',
  )
})

test('an output that is no JSON or too large is refused, and the wait goes on', async () => {
  onTick = outcomes('park', 'done')
  const arn = await start()
  const taskToken = await token()
  const send = (output: string) =>
    client.send(new SendTaskSuccessCommand({ taskToken, output })).catch(nameOf)
  expect(await send('{"cut')).toBe('InvalidOutput')
  expect(await send(JSON.stringify('x'.repeat(256 * 1024)))).toBe('ValidationException')
  await send(JSON.stringify('x'.repeat(200 * 1024)))
  expect((await end(arn)).status).toBe('SUCCEEDED')
})

test('stopping an execution ends its wait, its token and its work at once', async () => {
  onTick = outcomes('park')
  const arn = await start()
  const taskToken = await token()
  const command = { executionArn: arn, error: 'Cancelled', cause: 'by a person' }
  const { stopDate } = await client.send(new StopExecutionCommand(command))
  expect(stopDate).toBeInstanceOf(Date)
  expect(await describe(arn)).toMatchObject({
    status: 'ABORTED',
    error: 'Cancelled',
    cause: 'by a person',
  })
  expect(await succeed(taskToken).catch(nameOf)).toBe('TaskTimedOut')
  expect(service.waiting()).toBe(0)
  // A second stop changes nothing.
  await client.send(new StopExecutionCommand({ executionArn: arn, error: 'Other' }))
  expect((await describe(arn)).error).toBe('Cancelled')
})

test('an execution that is stopped during a retry pause invokes nothing more', async () => {
  onTick = vi.fn(async () => ({ payload: { errorType: 'Flaky' }, functionError: 'Unhandled' }))
  const arn = await start()
  await vi.waitFor(() => expect(onTick).toHaveBeenCalledOnce())
  await client.send(new StopExecutionCommand({ executionArn: arn }))
  await sleep(1_200)
  expect(onTick).toHaveBeenCalledOnce()
})

test('a tick is retried with backoff by the name of its error, then caught', async () => {
  const times: number[] = []
  onTick = async () => {
    times.push(Date.now())
    if (times.length === 1) throw new AppError('TOO_MANY_REQUESTS', 'Rate exceeded.')
    return { payload: { errorType: 'Flaky', errorMessage: 'again' }, functionError: 'Unhandled' }
  }
  const execution = await end(await start())
  expect(execution).toMatchObject({ status: 'FAILED', error: 'TaskLost', cause: 'A tick failed.' })
  const [first = 0, second = 0, third = 0] = times
  expect(times).toHaveLength(3)
  expect(second - first).toBeGreaterThanOrEqual(995)
  expect(third - second).toBeGreaterThanOrEqual(1_995)
  // Tick and its two retries, and Failed.
  expect(service.transitions()).toBe(4)
})

test('an error that no rule names is not retried', async () => {
  onTick = vi.fn(async () => ({ payload: { errorType: 'Other' }, functionError: 'Unhandled' }))
  expect((await end(await start())).status).toBe('FAILED')
  expect(onTick).toHaveBeenCalledOnce()
})

test('a wait until a time ends then and not before', async () => {
  const until = new Date(Date.now() + 400).toISOString()
  const times: number[] = []
  onTick = async () => {
    times.push(Date.now())
    return { payload: { outcome: times.length === 1 ? 'wait' : 'done', until } }
  }
  expect((await end(await start())).status).toBe('SUCCEEDED')
  expect(times[1]).toBeGreaterThanOrEqual(Date.parse(until))
})

test('a wait past the reach of a timer does not end at once', async () => {
  const until = new Date(Date.now() + 60 * 86_400_000).toISOString()
  onTick = vi.fn(async () => ({ payload: { outcome: 'wait', until } }))
  const arn = await start()
  await sleep(150)
  expect((await describe(arn)).status).toBe('RUNNING')
  expect(onTick).toHaveBeenCalledOnce()
})

test('a name starts one execution: alike while it runs, refused with another input or later', async () => {
  onTick = outcomes('park', 'done')
  const command = { stateMachineArn, name: 'once', input: '{"taskId":"a"}' }
  const first = await client.send(new StartExecutionCommand(command))
  const second = await client.send(new StartExecutionCommand(command))
  expect(second.executionArn).toBe(first.executionArn)
  expect(second.startDate).toEqual(first.startDate)

  const other = new StartExecutionCommand({ ...command, input: '{"taskId":"b"}' })
  expect(await client.send(other).catch(nameOf)).toBe('ExecutionAlreadyExists')
  await succeed(await token())
  await end(first.executionArn ?? '')
  const again = new StartExecutionCommand(command)
  expect(await client.send(again).catch(nameOf)).toBe('ExecutionAlreadyExists')
})

test('what is not well formed or not there is refused by the names that AWS uses', async () => {
  const startWith = (fields: object) =>
    client.send(new StartExecutionCommand({ stateMachineArn, ...fields })).catch(nameOf)
  expect(await startWith({ name: 'a b' })).toBe('InvalidName')
  expect(await startWith({ name: 'x'.repeat(81) })).toBe('InvalidName')
  expect(await startWith({ input: '{"cut' })).toBe('InvalidExecutionInput')
  expect(await startWith({ input: JSON.stringify('x'.repeat(256 * 1024)) })).toBe(
    'ValidationException',
  )
  expect(await startWith({ stateMachineArn: `${stateMachineArn}s` })).toBe(
    'StateMachineDoesNotExist',
  )
  expect(await describe(`${stateMachineArn}:none`).catch(nameOf)).toBe('ExecutionDoesNotExist')
})

test('a result past 256 KB ends the execution, and no Catch stops that', async () => {
  onTick = async () => ({ payload: { outcome: 'x'.repeat(256 * 1024), until: '' } })
  expect(await end(await start())).toMatchObject({
    status: 'FAILED',
    error: 'States.DataLimitExceeded',
  })
})

test('executions are listed newest first, by status, in pages, and have a history', async () => {
  await end(await start('one'))
  onTick = outcomes('park')
  const two = await start('two')
  const list = (fields: object) =>
    client.send(new ListExecutionsCommand({ stateMachineArn, ...fields }))
  const names = (await list({})).executions?.map(({ name }) => name)
  expect(names).toEqual(['two', 'one'])
  expect((await list({ statusFilter: 'SUCCEEDED' })).executions?.[0]?.name).toBe('one')
  const { nextToken } = await list({ maxResults: 1 })
  expect((await list({ maxResults: 1, nextToken })).executions?.[0]?.name).toBe('one')

  await token()
  const history = await client.send(new GetExecutionHistoryCommand({ executionArn: two }))
  expect(history.events?.map(({ type }) => type)).toEqual([
    'ExecutionStarted',
    'TaskStateEntered',
    'TaskScheduled',
    'TaskStarted',
    'TaskSucceeded',
    'TaskStateExited',
    'ChoiceStateEntered',
    'ChoiceStateExited',
    'TaskStateEntered',
    'TaskScheduled',
    'TaskStarted',
    'TaskSubmitted',
  ])
  expect(history.events?.[1]?.stateEnteredEventDetails?.name).toBe('Tick')
})

test('a heartbeat keeps a wait alive, and silence ends it', async () => {
  const Beating = { ...park, TimeoutSeconds: 30, HeartbeatSeconds: 1, End: true }
  const { Catch: _catch, Next: _next, ...Wait } = Beating
  const other = await startStepFunctions({
    definition: { StartAt: 'Wait', States: { Wait } },
    stateMachineArn,
    invoke: async (_name, payload) => onPark(payload as Payload),
  })
  await client.send(new ListExecutionsCommand({ stateMachineArn }))
  client = clientOf(other)
  const arn = await start()
  const taskToken = await token()
  for (let beat = 0; beat < 3; beat++) {
    await sleep(600)
    await client.send(new SendTaskHeartbeatCommand({ taskToken }))
  }
  expect((await describe(arn)).status).toBe('RUNNING')
  expect(await end(arn)).toMatchObject({ status: 'FAILED', error: 'States.HeartbeatTimeout' })
  await other.close()
})

test.each([
  ['with parameters', { Parameters: park.Parameters }],
  ['with its input as parameters', {}],
])('a timeout may come from the input of a state %s', async (_what, parameters) => {
  const { Parameters: _, TimeoutSeconds: __, Catch: ___, Next: ____, ...rest } = park
  const Wait = { ...rest, ...parameters, TimeoutSecondsPath: '$.wait.seconds', End: true }
  const other = await startStepFunctions({
    definition: { StartAt: 'Wait', States: { Wait } },
    stateMachineArn,
    invoke: async (_name, payload) => onPark(payload as Payload),
  })
  client = clientOf(other)
  const input = (seconds: number) => ({
    taskId: 'a',
    wait: { seconds },
    FunctionName: 'park',
    Payload: { token: '' },
  })
  const short = await start('short', input(1))
  await token()
  const startedAt = Date.now()
  expect(await end(short)).toMatchObject({ status: 'FAILED', error: 'States.Timeout' })
  expect(Date.now() - startedAt).toBeGreaterThan(800)

  // Past the reach of a timer it must not end at once.
  const long = await start('long', input(3_000_000))
  expect(await end(long)).toMatchObject({ status: 'FAILED', error: 'States.Runtime' })
  await other.close()
})

test('300 executions side by side wait and go on, each by its own token', async () => {
  const decided = new Set<string>()
  onTick = async ({ taskId }) => ({
    payload: { outcome: decided.has(taskId) ? 'done' : 'park', until: '' },
  })
  const tokens = new Map<string, string>()
  onPark = async payload => {
    tokens.set(payload.taskId, payload.token)
    return { payload: null }
  }
  const names = Array.from({ length: 300 }, (_, index) => `task_${index}`)
  // A park of one second is short for 600 requests on a busy machine: answer as they come.
  await Promise.all(
    names.map(async name => {
      const arn = await start(name, { taskId: name })
      await vi.waitFor(() => expect(tokens.has(name)).toBe(true), { timeout: 10_000 })
      decided.add(name)
      await succeed(tokens.get(name) ?? '', { name }).catch(() => {})
      const execution = await end(arn)
      expect(execution.status).toBe('SUCCEEDED')
    }),
  )
  expect(service.running()).toBe(0)
  expect(service.waiting()).toBe(0)
})

test('a page in a browser cannot start an execution', async () => {
  const headers = {
    'x-amz-target': 'AWSStepFunctions.StartExecution',
    origin: 'http://evil.example',
  }
  const body = JSON.stringify({ stateMachineArn, input: '{}' })
  const answer = await fetch(service.url, { method: 'POST', headers, body })
  expect(await answer.text()).toContain('AccessDeniedException')
  expect(service.transitions()).toBe(0)
})

test('close ends at once and leaves no timer behind', async () => {
  onTick = outcomes('park')
  await start()
  await token()
  const before = Date.now()
  await service.close()
  expect(Date.now() - before).toBeLessThan(500)
  expect(service.running()).toBe(0)
  expect(service.waiting()).toBe(0)
})

test.each([
  ['an unknown next state', { ...tick, Next: 'Nowhere' }],
  ['a resource that is no Lambda', { ...tick, Resource: 'arn:aws:states:::sqs:sendMessage' }],
  ['JSONata', { ...tick, QueryLanguage: 'JSONata' }],
  ['a heartbeat not below its timeout', { ...tick, TimeoutSeconds: 5, HeartbeatSeconds: 5 }],
  ['a heartbeat from a path', { ...tick, HeartbeatSecondsPath: '$.seconds' }],
  [
    'States.ALL before another rule',
    {
      ...tick,
      Retry: [{ ErrorEquals: ['States.ALL'] }, { ErrorEquals: ['Flaky'] }],
    },
  ],
])('a definition with %s is refused when the service starts', async (_what, state) => {
  const broken = { ...definition, States: { ...definition.States, Tick: state } }
  await expect(
    startStepFunctions({ definition: broken, stateMachineArn, invoke: onTick as never }),
  ).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
})

test('a definition is not changed by running it, and may be text', async () => {
  const before = JSON.stringify(definition)
  const other = await startStepFunctions({
    definition: before,
    stateMachineArn,
    invoke: async () => ({ payload: {} }),
  })
  await other.close()
  expect(JSON.stringify(definition)).toBe(before)
})
