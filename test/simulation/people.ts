import { type Answer, answerOf, type createGateway, type Request } from './http.ts'
import { short } from './label.ts'
import type { Run } from './run.ts'

type Call = {
  id: string
  status: string
  digest: string | null
  tool: string
  operation: string
  arguments: Record<string, unknown>
  /** What a model asks people, where the call asks something. */
  question?: object | null
}
type Task = { id: string; status: string }

/** What a person approved: this form of a call, and the text that may have its effect. */
export type Approval = { callId: string; text: string; at: number }

const TERMINAL = ['COMPLETED', 'FAILED', 'CANCELLED', 'ABORTED']
/** How often whoever is not heard asks again. */
const ATTEMPTS = 4
const PATIENCE_MS = 5_000
/** Until an answer comes, when nothing is known of it. */
const GATEWAY_MS = 30_000
const BETWEEN_MS = 20_000
const MAX_ACTIONS = 8

export type People = ReturnType<typeof createPeople>

/** Those who start tasks, decide, settle and cancel: through the HTTP API, as anyone does. */
export const createPeople = (run: Run, gateway: ReturnType<typeof createGateway>) => {
  const { clock, random, functions } = run
  const approvals: Approval[] = []
  const cancelled: { id: string; at: number }[] = []
  let asked = 0

  const request = async (asking: Request): Promise<Answer> => {
    const found = gateway(asking, clock.now())
    if (!found) return { status: 404, data: undefined }
    const isCalm = run.mishaps.areOver()
    const about = short(`${asking.method} ${asking.path}`)
    const answered = functions.invoke(found.functionName, found.event, about)
    const gaveUp = clock.sleep(GATEWAY_MS).then(() => undefined)
    const outcome = await Promise.race([answered, gaveUp])
    const answer = outcome && !outcome.error ? answerOf(outcome.payload) : answerOf(undefined)
    run.trace.add(undefined, `${about} → ${answer.status} ${answer.code ?? ''}`)
    if (isCalm && answer.status >= 500) run.violate(`${about} answered ${answer.status}`)
    return answer
  }

  /** Asks until there is an answer that is one. */
  const insist = async (asking: Request): Promise<Answer> => {
    for (let attempt = 1; ; attempt++) {
      const answer = await request(asking)
      if (answer.status < 500 || attempt === ATTEMPTS) return answer
      await clock.sleep(random.around(PATIENCE_MS))
    }
  }

  const post = (path: string, body?: unknown, headers?: Record<string, string>) =>
    insist({
      method: 'POST',
      path,
      ...(body === undefined ? {} : { body }),
      ...(headers ? { headers } : {}),
    })

  const newKey = () => ({ 'idempotency-key': `key-${++asked}` })

  const create = async (): Promise<void> => {
    const body = { agent_id: random.pick(run.agents), prompt: run.text() }
    const headers = newKey()
    const create = () => post('/api/v1/tasks', body, headers)
    const answers = await Promise.all(random.chance(0.2) ? [create(), create()] : [create()])
    const ids = new Set(answers.flatMap(({ data }) => (data as Task | undefined)?.id ?? []))
    if (ids.size > 1) run.violate('one Idempotency-Key made two tasks')
  }

  /** An operation run without a task, perhaps asked for twice. */
  const runDirectly = async (): Promise<void> => {
    const operation = random.pick(['look', 'put', 'send', 'gated', 'gated', 'long'])
    const headers = { ...newKey(), 'espalier-agent': random.pick(run.agents) }
    const body = { text: run.text() }
    const ask = () => post(`/api/v1/tools/probe/operations/${operation}`, body, headers)
    await ask()
    if (random.chance(0.5)) await ask()
  }

  const waiting = async (): Promise<Call[]> => {
    const { data } = await request({ method: 'GET', path: '/api/v1/approvals' })
    return (data as Call[] | undefined) ?? []
  }

  const tasks = async (): Promise<Task[]> => {
    const { data } = await request({ method: 'GET', path: '/api/v1/tasks?limit=100' })
    return (data as Task[] | undefined) ?? []
  }

  const decide = async (call: Call): Promise<void> => {
    const { id, digest } = call
    if (call.status === 'UNKNOWN') return settle(call)
    if (call.question) {
      await post(`/api/v1/tool-calls/${id}/answer`, { answer: run.text() })
      return
    }
    if (random.chance(0.3)) {
      await post(`/api/v1/tool-calls/${id}/reject`, { digest, reason: run.text() })
      return
    }
    const isEdited = call.tool === 'probe' && random.chance(0.3)
    const edited = isEdited ? { arguments: { text: `edited-${run.text()}` } } : {}
    const text = String((edited.arguments ?? call.arguments).text)
    // Whoever isn't heard may have been all the same.
    approvals.push({ callId: id, text, at: clock.now() })
    await post(`/api/v1/tool-calls/${id}/approve`, { digest, ...edited })
  }

  /** Says what happened, once it can't happen any more: the probe's own log knows. */
  const settle = async ({ id }: Call): Promise<void> => {
    const runs = [...functions.alive].some(
      ({ event }) => (event as { callId?: string }).callId === id,
    )
    if (runs) return
    const ran = run.effects.some(({ callId }) => callId === id)
    await post(`/api/v1/tool-calls/${id}/settle`, ran ? { ran, content: 'It ran.' } : { ran })
  }

  const decideOne = async (): Promise<void> => {
    const calls = await waiting()
    if (calls.length > 0) await decide(random.pick(calls))
  }

  const onTask = async (action: string, statuses: (status: string) => boolean): Promise<void> => {
    const some = (await tasks()).filter(({ status }) => statuses(status))
    if (some.length === 0) return
    const { id } = random.pick(some)
    const body = action === 'follow-up' ? { prompt: run.text() } : {}
    const isEnd = action === 'cancel' || action === 'abort'
    const answer = await post(`/api/v1/tasks/${id}/${action}`, isEnd ? undefined : body, newKey())
    if (action === 'cancel' && (answer.data as Task | undefined)?.status === 'CANCELLED')
      cancelled.push({ id, at: run.scheduler.picked() })
  }

  const isOpen = (status: string) => !TERMINAL.includes(status)

  const ACTIONS: [number, () => Promise<void>][] = [
    [8, decideOne],
    [1, () => onTask('cancel', isOpen)],
    [1, () => onTask('abort', isOpen)],
    [1, () => onTask('continue', status => !isOpen(status))],
    [1, () => onTask('retry', status => !isOpen(status))],
    [1, () => onTask('follow-up', status => !isOpen(status))],
    [2, runDirectly],
  ]

  const act = async (): Promise<void> => {
    let rest = random.next() * ACTIONS.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, action] of ACTIONS) {
      rest -= weight
      if (rest < 0) return action()
    }
  }

  return {
    approvals,
    /** Tasks whose cancelling was answered, and as the how-manieth thing that happened. */
    cancelled,
    create,

    /** Acts now and then, at random, for a while. */
    disturb: async (): Promise<void> => {
      const actions = random.int(0, MAX_ACTIONS)
      for (let action = 0; action < actions; action++) {
        await clock.sleep(random.around(BETWEEN_MS))
        await act()
      }
    },

    /** Deals with all that waits on a person; true where there was something. */
    tidy: async (): Promise<boolean> => {
      const calls = await waiting()
      for (const call of calls) await decide(call)
      return calls.length > 0
    },
  }
}
