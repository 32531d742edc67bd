import type { StateMachine } from 'aws-local-stepfunctions'
import type { States } from './definition.ts'
import { MAX_HISTORY_EVENTS } from './limits.ts'

type Logged =
  ReturnType<StateMachine['run']>['eventLogs'] extends AsyncGenerator<infer Event> ? Event : never

export type HistoryEvent = {
  id: number
  type: string
  timestamp: number
  stateName?: string
  error?: string
}

/**
 * One execution's history, told in AWS's events, as many of them as AWS would record: without
 * inputs and outputs, which may be large and which nobody here reads.
 */
export const createHistory = (states: States) => {
  const events: HistoryEvent[] = []
  let transitions = 0
  let failing = false

  const record = (type: string, fields: { stateName?: string; error?: string } = {}) => {
    if (events.length >= MAX_HISTORY_EVENTS) return
    events.push({ id: events.length + 1, type, timestamp: Date.now(), ...fields })
  }

  const typeOf = (name: string): string => states[name]?.Type ?? ''

  const schedule = (name: string) => {
    if (typeOf(name) !== 'Task') return
    record('TaskScheduled')
    record('TaskStarted')
    if (states[name]?.Resource?.endsWith('.waitForTaskToken')) record('TaskSubmitted')
  }

  /** Adds what the interpreter says happened. */
  const add = (event: Logged): void => {
    if (!('state' in event)) return
    const stateName = event.state.name
    switch (event.type) {
      // "Step Functions counts a state transition each time a step of your workflow is executed",
      // and "each retry will be charged as an additional state transition":
      // https://aws.amazon.com/step-functions/pricing/
      case 'StateEntered':
        transitions++
        failing = false
        record(`${typeOf(stateName)}StateEntered`, { stateName })
        schedule(stateName)
        break
      case 'StateRetried':
        transitions++
        failing = false
        schedule(stateName)
        break
      case 'StateFailed':
        failing = true
        record(event.Error === 'States.Timeout' ? 'TaskTimedOut' : 'TaskFailed', {
          error: event.Error,
        })
        break
      case 'StateExited':
        if (typeOf(stateName) === 'Task' && !failing) record('TaskSucceeded')
        record(`${typeOf(stateName)}StateExited`, { stateName })
        break
      case 'StateCaught':
        break
      default:
        event satisfies never
    }
  }

  return {
    record,
    add,
    events: (): readonly HistoryEvent[] => events,
    transitions: () => transitions,
    isFull: () => events.length >= MAX_HISTORY_EVENTS,
    /** Forgets the events, and keeps the count of transitions. */
    clear: () => events.splice(0),
  }
}

export type History = ReturnType<typeof createHistory>
