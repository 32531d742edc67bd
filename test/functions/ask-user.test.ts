import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  MAX_ANSWER_CHARS,
  MAX_OPTIONS,
  MAX_QUESTION_CHARS,
  MAX_TIMEOUT_SECONDS,
  MIN_TIMEOUT_SECONDS,
  questionOf,
} from '../../lib/call/question.ts'
import type { Id } from '../../lib/core/ids.ts'
import { MAX_CALLS_PER_STEP } from '../../lib/workflow/conversation.ts'
import { sweep } from '../../lib/workflow/sweep.ts'
import { dataOf, startWorld, until, type World } from '../world.ts'

let world: World
let agent: Id<'agent'>
beforeAll(async () => {
  world = await startWorld()
  agent = await world.createAgent(['ask_user'])
})
afterAll(() => world.stop())
afterEach(() => {
  vi.useRealTimers()
})

const ask = (fields: object) => `/ask_user ask ${JSON.stringify(fields)}`

type Asking = {
  id: string
  task_id: string
  question: { text: string; options: string[]; answer: string | null; answered_by: string | null }
}
/** The questions that a task asks, in the one inbox. */
const asked = (taskId: string, count = 1) =>
  until(`${taskId} asks`, async () => {
    const calls = dataOf<Asking[]>(await world.request('GET', '/api/v1/approvals'))
    const own = calls.filter(call => call.task_id === taskId)
    return own.length === count ? own : undefined
  })

const answer = (id: string | undefined, text: string, key?: string) =>
  world.request('POST', `/api/v1/tool-calls/${id}/answer`, {
    body: { answer: text },
    ...(key === undefined ? {} : { key }),
  })

describe('a question', () => {
  it('waits at no cost, and its answer is what the model reads', async () => {
    const id = await world.createTask(
      agent,
      ask({ question: 'Red or blue?', options: ['red', 'blue'] }),
    )
    const [call] = await asked(id)
    expect(call?.question).toMatchObject({
      text: 'Red or blue?',
      options: ['red', 'blue'],
      answer: null,
    })
    await world.untilTask(id, 'AWAITING_INPUT')
    const answered = dataOf<Asking>(await answer(call?.id, 'Green, please.'))
    expect(answered.question).toMatchObject({ answer: 'Green, please.' })
    expect(answered.question.answered_by).toMatch(/^user_/)
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.final_response).toContain('Green, please.')
    // Its time is over.
    expect((await answer(call?.id, 'Blue.')).status).toBe(409)
    expect(await world.approvals()).toEqual([])
  })

  it('gets its own answer where several are asked at once', async () => {
    const id = await world.createTask(
      agent,
      ask({ question: 'First?' }),
      ask({ question: 'Second?' }),
    )
    const calls = await asked(id, 2)
    for (const { id: call, question } of calls.toReversed())
      await answer(call, `The answer to ${question.text}`)
    await world.untilTask(id, 'COMPLETED')
    const told = (await world.history(id)).filter(({ role }) => role === 'tool')
    expect(told.map(({ text }) => text)).toEqual(['The answer to First?', 'The answer to Second?'])
  })

  it('is answered once where two answer at the same time', async () => {
    const id = await world.createTask(agent, ask({ question: 'Well?' }))
    const [call] = await asked(id)
    const answers = await Promise.all([answer(call?.id, 'Yes.'), answer(call?.id, 'No.')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    await world.untilTask(id, 'COMPLETED')
  })

  it('may be one of as many as a step has calls, with people who are told of each', async () => {
    for (const name of ['One', 'Two'])
      dataOf(
        await world.request('POST', '/api/v1/subscriptions', {
          body: {
            name,
            url: 'https://example.com/hook',
            events: ['call.waiting', 'call.expiring'],
          },
        }),
      )
    const lines = Array.from({ length: MAX_CALLS_PER_STEP }, (_, index) =>
      ask({ question: `Number ${index}?` }),
    )
    const id = await world.createTask(agent, ...lines)
    await world.untilTask(id, 'AWAITING_INPUT')
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
  })

  it('that nobody answers in time ends as that, and grants nothing', async () => {
    const id = await world.createTask(agent, ask({ question: 'Well?', timeout_seconds: 60 }))
    const [call] = await asked(id)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    expect((await answer(call?.id, 'Too late.')).status).toBe(409)
    await sweep()
    const task = await world.untilTask(id, 'COMPLETED')
    expect(task.final_response).toContain('Nobody answered in time')
    const told = (await world.history(id)).find(({ role }) => role === 'tool')
    expect(told?.is_error).toBe(true)
  })

  it('is gone with its task', async () => {
    const id = await world.createTask(agent, ask({ question: 'Well?' }))
    const [call] = await asked(id)
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
    expect((await answer(call?.id, 'Yes.')).status).toBe(409)
    expect(await world.approvals()).toEqual([])
  })

  it('is none of a stranger’s, and no agent answers it', async () => {
    const id = await world.createTask(agent, ask({ question: 'Well?' }))
    const [call] = await asked(id)
    const stranger = await world.createPerson(['decide'])
    expect((await answer(call?.id, 'Yes.', stranger.key)).status).toBe(404)
    const own = await world.createAgentKey(agent)
    expect((await answer(call?.id, 'Yes.', own.key)).status).toBe(403)
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
  })

  it('is put by tasks alone', async () => {
    const { body } = await world.run(agent, 'ask_user.ask', { question: 'Well?' })
    expect(body.data).toMatchObject({ is_error: true, content: 'Only a task can ask someone.' })
  })
})

describe('limits of a question', () => {
  const at: [string, object, boolean][] = [
    ['the longest question', { question: 'x'.repeat(MAX_QUESTION_CHARS) }, true],
    ['a longer one', { question: 'x'.repeat(MAX_QUESTION_CHARS + 1) }, false],
    ['most options', { question: 'x', options: Array(MAX_OPTIONS).fill('a') }, true],
    ['more options', { question: 'x', options: Array(MAX_OPTIONS + 1).fill('a') }, false],
    ['the shortest time', { question: 'x', timeout_seconds: MIN_TIMEOUT_SECONDS }, true],
    ['a shorter one', { question: 'x', timeout_seconds: MIN_TIMEOUT_SECONDS - 1 }, false],
    ['the longest time', { question: 'x', timeout_seconds: MAX_TIMEOUT_SECONDS }, true],
    ['more time', { question: 'x', timeout_seconds: MAX_TIMEOUT_SECONDS + 1 }, false],
  ]
  it.each(at)('%s', async (_, fields, fits) => {
    const id = await world.createTask(agent, ask(fields))
    if (fits) await asked(id)
    else await world.untilTask(id, 'COMPLETED')
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
  })

  it('hold of its answer', async () => {
    const id = await world.createTask(agent, ask({ question: 'Well?' }))
    const [call] = await asked(id)
    expect((await answer(call?.id, 'x'.repeat(MAX_ANSWER_CHARS + 1))).status).toBe(422)
    expect((await answer(call?.id, '')).status).toBe(422)
    expect((await answer(call?.id, 'x'.repeat(MAX_ANSWER_CHARS))).status).toBe(200)
  })

  it('hold of what any other tool asks: it is cut, and its time brought within bounds', () => {
    const clock = { now: () => new Date(0) }
    const text = 'x'.repeat(MAX_QUESTION_CHARS + 1)
    const asked = { text, options: Array(MAX_OPTIONS + 1).fill(text), timeoutSeconds: Number.NaN }
    const question = questionOf(asked, clock)
    expect(question.text).toHaveLength(MAX_QUESTION_CHARS)
    expect(question.options).toHaveLength(MAX_OPTIONS)
    expect(Date.parse(question.until)).toBe(MIN_TIMEOUT_SECONDS * 1_000)
    const long = questionOf({ ...asked, timeoutSeconds: Number.POSITIVE_INFINITY }, clock)
    expect(Date.parse(long.until)).toBe(MAX_TIMEOUT_SECONDS * 1_000)
  })
})
