/** The functions that the state machine calls, by ARN or by name. */
export type WorkflowFunctions = { tick: string; park: string }

/**
 * The longest wait for a wake, in seconds: at its end the task looks for itself. A token without
 * a timeout would wait a year, unseen.
 */
export const MAX_WAIT_SECONDS = 86_400
/** A tick's function has Lambda's longest time; past it, the state machine gives it up. */
export const TICK_TIMEOUT_SECONDS = 900

/** Asked again ever more slowly, at random moments. */
const SLOWLY = {
  IntervalSeconds: 2,
  BackoffRate: 2,
  MaxDelaySeconds: 120,
  JitterStrategy: 'FULL',
} as const

/**
 * A function that finds no room (the account's, or what ticks may take of it) has done nothing wrong:
 * it is asked again for half an hour or so. One that died is for some minutes.
 */
const RETRY = [
  { ErrorEquals: ['Lambda.TooManyRequestsException'], MaxAttempts: 36, ...SLOWLY },
  { ErrorEquals: ['States.ALL'], MaxAttempts: 8, ...SLOWLY },
]

/**
 * The state machine of a task's execution, in Amazon States Language with JSONPath. Its input and
 * all that passes through it are ids, counters and times: `{ taskId, generation }`, and under
 * `tick` what the last tick said.
 */
export const definition = ({ tick, park }: WorkflowFunctions) => ({
  Comment: 'Moves one task on, tick by tick, and waits at no cost in between.',
  StartAt: 'Tick',
  States: {
    Tick: {
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke',
      Parameters: {
        FunctionName: tick,
        Payload: { 'taskId.$': '$.taskId', 'generation.$': '$.generation' },
      },
      ResultSelector: {
        'outcome.$': '$.Payload.outcome',
        'wakeSeq.$': '$.Payload.wakeSeq',
        'fence.$': '$.Payload.fence',
        'waitSeconds.$': '$.Payload.waitSeconds',
        'until.$': '$.Payload.until',
      },
      ResultPath: '$.tick',
      TimeoutSeconds: TICK_TIMEOUT_SECONDS,
      Retry: RETRY,
      Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.error', Next: 'Stalled' }],
      Next: 'Choose',
    },
    Choose: {
      Type: 'Choice',
      Choices: [
        { Variable: '$.tick.outcome', StringEquals: 'again', Next: 'Tick' },
        { Variable: '$.tick.outcome', StringEquals: 'wait', Next: 'Park' },
        { Variable: '$.tick.outcome', StringEquals: 'until', Next: 'Pause' },
      ],
      Default: 'Ended',
    },
    Park: {
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
      Parameters: {
        FunctionName: park,
        Payload: {
          'taskId.$': '$.taskId',
          'generation.$': '$.generation',
          'wakeSeq.$': '$.tick.wakeSeq',
          'fence.$': '$.tick.fence',
          'token.$': '$$.Task.Token',
        },
      },
      ResultPath: null,
      TimeoutSecondsPath: '$.tick.waitSeconds',
      // The end of a wait is no error: the tick looks what has come.
      Retry: [{ ErrorEquals: ['States.Timeout'], MaxAttempts: 0 }, ...RETRY],
      Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: null, Next: 'Tick' }],
      Next: 'Tick',
    },
    Pause: { Type: 'Wait', TimestampPath: '$.tick.until', Next: 'Tick' },
    Ended: { Type: 'Succeed' },
    // The sweeper finds the task and starts it again.
    Stalled: { Type: 'Fail', Error: 'TickFailed', Cause: 'The tick failed again and again.' },
  },
})
