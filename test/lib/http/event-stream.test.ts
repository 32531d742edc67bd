import { describe, expect, it, vi } from 'vitest'
import { type LogEntry, log, setLogSink, withLogIds } from '../../../lib/core/log.ts'
import { heartbeat, message, retryAfter, streamResponse } from '../../../lib/http/event-stream.ts'
import { createReader } from '../../event-source.ts'

const logs: LogEntry[] = []
setLogSink(entry => logs.push(entry))

describe('server-sent events', () => {
  it('are read by others as they were meant, whatever is in them', () => {
    const reader = createReader()
    const data = { text: 'a\nb\r\n\r\nc\u2028: data: x', empty: '' }
    reader.feed(retryAfter(1_000))
    reader.feed(heartbeat())
    reader.feed(message({ id: 'WzFd', event: 'task', data }))
    expect(reader.messages).toEqual([{ id: 'WzFd', event: 'task', data }])
    expect(reader.retries).toEqual([1_000])
    expect(reader.comments).toHaveLength(1)
    expect(reader.problems).toEqual([])
  })

  it('that fail on the way end, and say why in the log of their request', async () => {
    const ended = vi.fn(async () => {})
    const response = withLogIds({ requestId: 'the request' }, () =>
      streamResponse(async function* () {
        yield 'first'
        log('info', 'on-the-way')
        throw new Error('Defect.')
      }, ended),
    )
    expect(await response.text()).toBe('first')
    expect(ended).toHaveBeenCalledOnce()
    expect(logs.map(({ event, requestId }) => [event, requestId])).toEqual([
      ['on-the-way', 'the request'],
      ['stream-failed', 'the request'],
    ])
  })

  it('stop when nobody reads them, also where none was read yet', async () => {
    for (const reads of [0, 1]) {
      const ended = vi.fn(async () => {})
      let signal: AbortSignal | undefined
      const response = streamResponse(async function* (given) {
        signal = given
        for (;;) yield 'more'
      }, ended)
      const reader = response.body?.getReader()
      for (let read = 0; read < reads; read++) await reader?.read()
      await reader?.cancel()
      expect(ended).toHaveBeenCalledOnce()
      if (reads > 0) expect(signal?.aborted).toBe(true)
    }
  })
})
