import { describe, expect, it } from 'vitest'
import { type Message, openStream } from '../event-source.ts'
import { makeSession } from '../session.ts'
import { agent, useAgent, world } from '../use-world.ts'
import { dataOf } from '../world.ts'

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

  it('tells whom it has told the end that there is nothing to come back for', async () => {
    const id = await world.createTask(agent, 'Hello')
    const stream = await follow(id)
    await stream.closed
    const after = stream.messages.at(-1)?.id ?? ''
    expect((await follow(id, { after })).status).toBe(204)
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

/** What a message says; its id may be another one when it is said again. */
const told = ({ event, data }: Message): string => JSON.stringify([event, data])
