import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FUNCTION_PREFIX, STATE_MACHINE_ARN } from '../../lib/local/environment.ts'
import { type LocalStepFunctions, startStepFunctions } from '../../lib/local/step-functions.ts'
import { outcomeOf } from '../../lib/workflow/outcome.ts'
import { agent, useAgent, world } from '../use-world.ts'
import { dataOf } from '../world.ts'

// What is on its way as a deploy replaces the functions: executions keep the definition that they
// began with, and events that were sent arrive at the new code.

const FOLDER = path.join(import.meta.dirname, '../fixtures/state-machine')
const definitionOf = (version: string) =>
  JSON.parse(readFileSync(path.join(FOLDER, `${version}.json`), 'utf8'))

const VERSIONS = ['v0.1.0']

useAgent(['time', 'media', 'ask_user'])

const invoke = async (name: string, payload: unknown) => {
  const response = await fetch(
    `${process.env.AWS_ENDPOINT_URL_LAMBDA}/2015-03-31/functions/${name}/invocations`,
    { method: 'POST', body: JSON.stringify(payload) },
  )
  const functionError = response.headers.get('x-amz-function-error')
  const text = await response.text()
  return {
    payload: text === '' ? null : JSON.parse(text),
    ...(functionError === null ? {} : { functionError }),
  }
}

const opened: LocalStepFunctions[] = []
afterAll(() => Promise.all(opened.map(each => each.close())))

describe.each(VERSIONS)('an execution that began with the definition of %s', version => {
  let old: LocalStepFunctions
  beforeAll(async () => {
    old = await startStepFunctions({
      definition: definitionOf(version),
      stateMachineArn: STATE_MACHINE_ARN,
      invoke,
    })
    opened.push(old)
    process.env.AWS_ENDPOINT_URL_SFN = old.url
  })

  it('goes on through today’s functions: steps, an approval, an answer, an end', async () => {
    const before = old.transitions()
    const create = '/media create_media {"filename": "a.md", "content": "a"}'
    const share = '/media get_public_url {"media_id": "{{1.media_id}}"}'
    const ask = '/ask_user ask {"question": "Oak or elm?"}'
    const id = await world.createTask(agent, create, '', share, '', ask)
    const [call] = await world.untilApproval(id)
    expect(old.waiting()).toBe(1)
    dataOf(await world.decide(call, 'approve'))
    const { tool_calls } = await world.untilTask(id, 'AWAITING_INPUT')
    const answer = { body: { answer: 'Elm.' } }
    dataOf(
      await world.request('POST', `/api/v1/tool-calls/${tool_calls.at(-1)?.id}/answer`, answer),
    )
    await world.untilTask(id, 'COMPLETED')
    expect(old.transitions() - before).toBeGreaterThan(6)
  })

  it('finds in every outcome of today’s tick what it reads, and a way to go on', () => {
    const { Tick, Choose } = definitionOf(version).States
    const read = Object.values<string>(Tick.ResultSelector).map(text => text.split('.').at(-1))
    const known = Choose.Choices.map(({ StringEquals }: { StringEquals: string }) => StringEquals)
    for (const outcome of ['again', 'wait', 'until', 'end'] as const) {
      expect(Object.keys(outcomeOf(outcome))).toEqual(expect.arrayContaining(read))
      expect(outcome === 'end' || known.includes(outcome), outcome).toBe(true)
    }
  })
})

/** Events as the first version sends them: Lambda keeps one for up to six hours. */
describe('an event that was sent before', () => {
  const TASK = 'task_01M8QNDRYZ2Z8T0WP2HZZXYSTH'
  const CALL = 'call_01M8QNDRYZ2Z8T0WP2HZZXYSTH'
  const DELIVERY = 'delivery_01M8QNDRYZ2Z8T0WP2HZZXYSTH'
  it.each([
    ['tick', { taskId: TASK, generation: 1 }],
    ['park', { taskId: TASK, generation: 1, wakeSeq: 0, fence: 1, token: 'a token' }],
    ['wake', { callId: CALL }],
    ['notify', { deliveryIds: [DELIVERY] }],
    ['sweep', {}],
  ])('to %s is understood', async (name, payload) => {
    expect(await invoke(`${FUNCTION_PREFIX}${name}`, payload)).not.toHaveProperty('functionError')
  })

  it('to an operation is taken for the call that it names', async () => {
    const { payload } = await invoke(`${FUNCTION_PREFIX}tool-time-now`, { callId: CALL })
    expect(JSON.stringify(payload)).toContain(CALL)
  })
})
