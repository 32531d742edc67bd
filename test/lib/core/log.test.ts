import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  addFigure,
  addLogIds,
  endInvocation,
  figures,
  invocation,
  type LogEntry,
  type LogSink,
  log,
  setLogSink,
  withLogIds,
} from '../../../lib/core/log.ts'

let entries: LogEntry[]
let previous: LogSink
beforeEach(() => {
  entries = []
  previous = setLogSink(entry => entries.push(entry))
})
afterEach(() => {
  setLogSink(previous)
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

describe('a line', () => {
  it('is one object of JSON and nothing else, whatever is in its fields', () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    setLogSink(previous)
    log('info', 'task-swept', { text: 'a\nb\r\u2028\u0000"', nothing: undefined })
    const [text] = write.mock.calls.map(([chunk]) => String(chunk))
    expect(text?.indexOf('\n')).toBe((text?.length ?? 0) - 1)
    expect(JSON.parse(text ?? '')).toMatchObject({
      event: 'task-swept',
      text: 'a\nb\r\u2028\u0000"',
    })
  })

  it('has the ids of all it is within, and what becomes known on the way from then on', async () => {
    await withLogIds({ requestId: 'r' }, async () => {
      log('info', 'first')
      await Promise.all(
        ['1', '2'].map(taskId =>
          withLogIds({ taskId }, async () => {
            addLogIds({ agentId: `of ${taskId}`, callId: undefined })
            await Promise.resolve()
            log('info', 'each')
          }),
        ),
      )
      addLogIds({ generation: 3 })
      log('info', 'last', { requestId: 'its own' })
    })
    log('info', 'outside')
    addLogIds({ taskId: 'nobody’s' })
    expect(entries.map(({ time: _, level: __, ...rest }) => rest)).toEqual([
      { event: 'first', requestId: 'r' },
      { event: 'each', requestId: 'r', taskId: '1', agentId: 'of 1' },
      { event: 'each', requestId: 'r', taskId: '2', agentId: 'of 2' },
      { event: 'last', requestId: 'its own', generation: 3 },
      { event: 'outside' },
    ])
  })
})

describe('the level', () => {
  const LEVELS = ['debug', 'info', 'warn', 'error'] as const

  it.each([
    ['', ['info', 'warn', 'error']],
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
    ['loud', ['info', 'warn', 'error']],
  ])('"%s" has %s logged', (level, logged) => {
    vi.stubEnv('ESPALIER_LOG_LEVEL', level)
    for (const each of LEVELS) log(each, 'task-swept')
    expect(entries.map(entry => entry.level)).toEqual(logged)
  })
})

describe('a run of a function', () => {
  it('shares its figures and what is left to do, once, among all within it', async () => {
    const done: string[] = []
    await withLogIds({}, async () => {
      await withLogIds({ taskId: '1' }, async () => {
        addFigure('requests', 2)
        invocation()?.endings.push(async () => {
          done.push('ended')
        })
      })
      addFigure('requests', 1)
      expect(figures()).toEqual({ requests: 3 })
      await endInvocation()
      await endInvocation()
    })
    expect(done).toEqual(['ended'])
    await endInvocation()
    expect(invocation()).toBeUndefined()
  })
})
