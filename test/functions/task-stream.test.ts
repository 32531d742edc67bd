import { describe, expect, it, vi } from 'vitest'
import { tools } from '../../functions/tools/index.ts'
import { notFound } from '../../lib/core/errors.ts'
import type { Id } from '../../lib/core/ids.ts'
import * as table from '../../lib/data/table.ts'
import { currentUsage } from '../../lib/data/usage.ts'
import { followTask, HEARTBEAT_MS, RECHECK_MS, STREAM_MS } from '../../lib/http/follow-task.ts'
import { revokeKey } from '../../lib/principal/key.ts'
import { taskKey } from '../../lib/task/task.ts'
import { MAX_WATCHERS, takeSeats } from '../../lib/task/watcher.ts'
import { createWatch, START } from '../../lib/workflow/watch.ts'
import { createReader, type Message, openStream } from '../event-source.ts'
import { makeSession } from '../session.ts'
import { agent, useAgent, world } from '../use-world.ts'
import { dataOf, snapshot, until } from '../world.ts'

useAgent(['time', 'calculator'])

const follow = (
  id: string,
  options: Parameters<typeof openStream>[1] & { after?: string } = {},
) => {
  const { after, ...rest } = options
  const query = after === undefined ? '' : `?after=${after}`
  return openStream(`${world.url}/api/v1/tasks/${id}/stream${query}`, {
    key: world.adminKey,
    ...rest,
  })
}

const only = (messages: Message[], event: string) =>
  messages.filter(message => message.event === event).map(({ data }) => data)

describe('the stream of a task', () => {
  it('tells all that happens to it, and ends with it', async () => {
    const id = await world.createTask(agent, '/calculator calculate {"expression": "6 * 7"}')
    const stream = await follow(id)
    expect(stream.status).toBe(200)
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
    expect(stream.response.headers.get('cache-control')).toBe('no-store, no-transform')
    await stream.closed
    expect(stream.problems).toEqual([])
    expect(stream.retries).toHaveLength(1)
    const task = await world.getTask(id)
    const events = stream.messages.map(({ event }) => event)
    expect(events.at(-1)).toBe('end')
    expect(stream.messages.at(-1)?.data).toEqual({ status: 'COMPLETED' })
    expect(task).toMatchObject(only(stream.messages, 'task').at(-1) ?? {})
    expect(only(stream.messages, 'tool_call').at(-1)).toEqual(task.tool_calls[0])
    // The same rows, whatever the order in which answers came.
    expect(only(stream.messages, 'history')).toEqual(await world.history(id))
    const { body } = await world.request('GET', `/api/v1/tasks/${id}/events`)
    expect(only(stream.messages, 'event')).toEqual(body.data)
  })

  it('goes on from any message on without losing one, by the header and by the query', async () => {
    const id = await world.createTask(
      agent,
      '/calculator calculate {"expression": "1 + 1"}',
      '/time now {}',
      '',
      '/calculator calculate {"expression": "{{1}} + 1"}',
    )
    await world.untilTask(id, 'COMPLETED')
    const whole = await follow(id)
    await whole.closed
    const wanted = whole.messages.map(told)
    for (const [index, { id: place }] of whole.messages.slice(0, -1).entries()) {
      for (const options of [{ headers: { 'last-event-id': place } }, { after: place }]) {
        const rest = await follow(id, options)
        await rest.closed
        const seen = [...whole.messages.slice(0, index + 1), ...rest.messages].map(told)
        expect(wanted.filter(each => !seen.includes(each))).toEqual([])
        // What had been said before is not said again.
        const history = only(rest.messages, 'history').length
        expect(history).toBeLessThan(only(whole.messages, 'history').length)
      }
    }
  })

  it('loses nothing for whom the connection breaks after each message', async () => {
    await world.override(agent, 'time.now', { requires_approval: null })
    const lines = ['/time now {}', '/calculator calculate {"expression": "2 + 2"}', '']
    const id = await world.createTask(agent, ...lines, ...lines, ...lines)
    const seen: Message[] = []
    while (seen.at(-1)?.event !== 'end') {
      const before = seen.at(-1)?.id
      const stream = await follow(id, before === undefined ? {} : { after: before })
      const [first] = await until('a message', async () =>
        stream.messages.length > 0 ? stream.messages : undefined,
      )
      if (first) seen.push(first)
      stream.hangUp()
      await stream.closed
      // Only what moves the place is news: the task is told again in every stream.
      if (first?.id !== before) continue
      const next = await follow(id, before === undefined ? {} : { after: before })
      await until('a place further on', async () =>
        next.messages.find(({ id: place }) => place !== before),
      )
      const further = next.messages.findIndex(({ id: place }) => place !== before)
      seen.push(...next.messages.slice(0, further + 1))
      next.hangUp()
      await next.closed
    }
    const history = await world.history(id)
    expect(new Set(only(seen, 'history').map(asText))).toEqual(new Set(history.map(asText)))
    const { tool_calls } = await world.getTask(id)
    for (const call of tool_calls) expect(only(seen, 'tool_call')).toContainEqual(call)
    const { body } = await world.request('GET', `/api/v1/tasks/${id}/events`)
    expect(new Set(only(seen, 'event').map(asText))).toEqual(
      new Set((body.data as object[]).map(asText)),
    )
  })

  it('tells whom it has told the end that there is nothing to come back for', async () => {
    const id = await world.createTask(agent, 'Hello')
    const stream = await follow(id)
    await stream.closed
    const after = stream.messages.at(-1)?.id ?? ''
    expect((await follow(id, { after })).status).toBe(204)
  })

  it('goes on from the end once the task has begun a new life', async () => {
    const id = await world.createTask(agent, 'Hello')
    const first = await follow(id)
    await first.closed
    const after = first.messages.at(-1)?.id ?? ''
    const body = { prompt: 'And then?' }
    dataOf(await world.request('POST', `/api/v1/tasks/${id}/follow-up`, { body }))
    const second = await follow(id, { after })
    await second.closed
    expect(second.messages.at(-1)?.event).toBe('end')
    const history = [first, second].flatMap(({ messages }) => only(messages, 'history'))
    expect(history).toEqual(await world.history(id))
    expect(only(second.messages, 'event').map(({ type }) => type)).toEqual([
      'followed-up',
      'completed',
    ])
  })

  it('refuses a place that it never told', async () => {
    const id = await world.createTask(agent, 'Hello')
    for (const after of ['x', 'WzFd', Buffer.from('[0,0,-1,false]').toString('base64url')]) {
      const answer = await world.request('GET', `/api/v1/tasks/${id}/stream?after=${after}`)
      expect(answer.status).toBe(400)
      expect(answer.body.error?.code).toBe('BAD_REQUEST')
    }
  })

  it('is for those who may read the task, sessions among them', async () => {
    const id = await world.createTask(agent, 'Hello')
    const other = await world.createPerson()
    expect((await follow(id, { key: other.key })).status).toBe(404)
    const { id: admin } = dataOf<{ id: never }>(await world.request('GET', '/api/v1/principals/me'))
    const { cookie } = await makeSession(admin)
    const stream = await openStream(`${world.url}/api/v1/tasks/${id}/stream`, {
      headers: { cookie },
    })
    expect(stream.status).toBe(200)
    await stream.closed
    expect(stream.messages.at(-1)?.event).toBe('end')
  })
})

/** A task that waits for a decision about its one call, and nothing else happens. */
const waitingTask = async (): Promise<Id<'task'>> => {
  await world.override(agent, 'time.now', { requires_approval: true })
  const id = await world.createTask(agent, '/time now {}')
  await world.untilTask(id, 'PENDING_APPROVAL')
  return id
}

describe('the stream of a task that waits', () => {
  it('tells what is asked, and goes on with the answer', async () => {
    const id = await waitingTask()
    const stream = await follow(id)
    const states = () => only(stream.messages, 'tool_call').map(({ status }) => status)
    await until('the call is told of', async () => states().at(-1))
    expect(states()).toEqual(['PENDING_APPROVAL'])
    const [call] = await world.untilApproval(id)
    await world.decide(call, 'approve')
    await stream.closed
    expect(states().at(-1)).toBe('COMPLETED')
    expect(stream.messages.at(-1)).toMatchObject({ event: 'end', data: { status: 'COMPLETED' } })
  })

  it('is read by one request for each look', async () => {
    const id = await waitingTask()
    const watch = createWatch(id, START)
    while ((await watch.look())?.more);
    const before = currentUsage()
    const looks = 10
    for (let look = 0; look < looks; look++)
      expect(await watch.look()).toMatchObject({ changes: [], more: false })
    expect(currentUsage().requests - before.requests).toBe(looks)
    // The task, the entry that isn't there yet, and the call.
    expect(currentUsage().readUnits - before.readUnits).toBe(looks * 3)
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
  })

  it('stops reading when its client hangs up, and gives its seats back', async () => {
    const id = await waitingTask()
    const stream = await follow(id)
    await until('something is told', async () => stream.messages.at(-1))
    expect(await seats()).toHaveLength(3)
    stream.hangUp()
    await until('it has ended', async () => ended(id))
    await until('the seats are free', async () => ((await seats()).length === 0 ? true : undefined))
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
  })

  it('is refused where all seats are taken', async () => {
    const id = await waitingTask()
    for (let seat = 0; seat < MAX_WATCHERS.task; seat++)
      await takeSeats({ taskId: id, principalId: `user_${'0'.repeat(24)}${10 + seat}` as never })
    const answer = await world.request('GET', `/api/v1/tasks/${id}/stream`)
    expect(answer.status).toBe(429)
    expect(answer.body.error?.code).toBe('TOO_MANY_REQUESTS')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
  })

  it('ends when the key that asked for it counts no more', async () => {
    const id = await waitingTask()
    const me = dataOf<{ id: Id<'user'> }>(await world.request('GET', '/api/v1/principals/me'))
    const { key, keyId } = await world.createUserKey(me.id)
    const stream = await follow(id, { key })
    await until('something is told', async () => stream.messages.at(-1))
    await revokeKey(keyId)
    // It is looked at every so often, which nobody here waits for.
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + RECHECK_MS)
    await stream.closed
    clock.mockRestore()
    expect(stream.messages.map(({ event }) => event)).not.toContain('end')
    expect((await follow(id, { key })).status).toBe(401)
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
  })

  const seats = async () => Object.keys(await snapshot()).filter(key => key.startsWith('watchers#'))
  const ended = (id: string) =>
    world.logs.find(({ event, taskId }) => event === 'stream-ended' && taskId === id)
})

describe('a stream', () => {
  const run = async (
    id: Id<'task'>,
    { pace = {}, recheck = async () => {} }: { pace?: object; recheck?: () => Promise<void> },
  ) => {
    const reader = createReader()
    const { signal } = new AbortController()
    const whole = { streamMs: STREAM_MS, heartbeatMs: HEARTBEAT_MS, recheckMs: RECHECK_MS, ...pace }
    const texts = followTask({ taskId: id, from: START, tools, recheck, signal, pace: whole })
    for await (const text of texts) reader.feed(text)
    expect(reader.problems).toEqual([])
    return reader
  }

  it('ends without a word when its time is over, and is not silent until then', async () => {
    const id = await waitingTask()
    const { messages, comments } = await run(id, { pace: { streamMs: 1_500, heartbeatMs: 1 } })
    expect(messages.map(({ event }) => event)).not.toContain('end')
    expect(comments.length).toBeGreaterThan(0)
    // The last place leads on to what comes then.
    const [call] = await world.untilApproval(id)
    await world.decide(call, 'reject')
    const rest = await follow(id, { after: messages.at(-1)?.id ?? '' })
    await rest.closed
    expect(only(rest.messages, 'tool_call').at(-1)).toMatchObject({ status: 'REJECTED' })
    expect(rest.messages.at(-1)?.event).toBe('end')
  })

  it('ends when the task is gone', async () => {
    const id = await waitingTask()
    setTimeout(() => table.remove(taskKey(id)), 100)
    const { messages } = await run(id, {})
    expect(messages.at(-1)?.event).not.toBe('end')
  })

  it('ends when its reader may not read any more, and before the next thing is told', async () => {
    const id = await waitingTask()
    let asked = 0
    const recheck = async () => {
      asked += 1
      if (asked > 1) throw notFound('task', id)
    }
    await run(id, { recheck, pace: { recheckMs: 100 } })
    expect(asked).toBe(2)
    await world.request('POST', `/api/v1/tasks/${id}/cancel`)
  })
})

const asText = (value: unknown): string => JSON.stringify(value)

/** What a message says; its id may be another one when it is said again. */
const told = ({ event, data }: Message): string => JSON.stringify([event, data])
