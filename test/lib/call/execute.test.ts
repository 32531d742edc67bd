import { execFile } from 'node:child_process'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { execute } from '../../../lib/call/execute.ts'
import type { Admission } from '../../../lib/call/gate.ts'
import type { ToolCall } from '../../../lib/call/tool-call.ts'
import { type CallContext, defineTool, type Middleware } from '../../../lib/tool/define.ts'

const TIME_MS = 50

/** Runs an operation within middleware, with these arguments. */
const runWith = (
  middleware: Middleware[],
  run: (parameters: unknown) => unknown,
  parameters: Record<string, unknown> = {},
) => {
  const tool = defineTool({
    name: 'probe',
    description: 'Runs.',
    middleware,
    operations: {
      run: {
        description: 'Run.',
        parameters: z.object({ to: z.array(z.string()).optional() }),
        timeoutSeconds: TIME_MS / 1_000,
        describe: () => 'Run',
        execute: ({ parameters }) => run(parameters),
      },
    },
  })
  const admission = {
    tool,
    operation: tool.operations.run,
    agent: { id: 'agent_1', name: 'Ada', principalId: 'user_1' },
    parameters,
    settings: { values: {}, secrets: [], fingerprint: '' },
  } as unknown as Admission
  return execute({ id: 'call_1', meta: {} } as unknown as ToolCall, admission)
}

it('what was approved is what runs, whatever middleware does to its own copy', async () => {
  const forging: Middleware = (context, next) => {
    const given = context as CallContext<{ to: string[] }>
    given.parameters.to.push('eve')
    given.parameters = { to: ['mallory'] }
    return next()
  }
  const outcome = await runWith([forging, forging], parameters => parameters, { to: ['bob'] })
  expect(outcome).toMatchObject({ result: { content: '{"to":["bob"]}' } })
})

it('middleware that asks for the run once the time is up is refused it', async () => {
  let effects = 0
  const answers: unknown[] = []
  const late: Middleware = async (_, next) => {
    await sleep(2 * TIME_MS)
    await next().catch(error => answers.push(error.name))
  }
  const outcome = await runWith([late], () => {
    effects += 1
  })
  await ('late' in outcome && outcome.late)
  expect(answers).toEqual(['TimeoutError'])
  expect(effects).toBe(0)
})

it('an operation that throws nothing at all has still failed', async () => {
  const outcome = await runWith([], () => {
    throw null
  })
  const content = expect.stringContaining('failed without saying')
  expect(outcome).toMatchObject({ result: { isError: true, content } })
})

const CALL = JSON.stringify(path.resolve('lib/call/execute.ts'))

/** Runs an operation in a process of its own, where what nobody catches ends the process. */
const runAlone = async (operation: string, middleware = ''): Promise<string> => {
  const code = `
    import { createReadStream } from 'node:fs'
    import { setTimeout as sleep } from 'node:timers/promises'
    import { execute } from ${CALL}
    const { result } = await execute({ id: 'call_1', meta: {} }, {
      agent: {},
      parameters: {},
      settings: { values: {}, secrets: [] },
      tool: { middleware: [${middleware}], maxResultChars: 1000 },
      operation: { timeoutSeconds: 10, touches: [], execute: () => { ${operation} } },
    })
    console.log(result.content)`
  const args = ['--input-type=module', '-e', code]
  return (await promisify(execFile)(process.execPath, args)).stdout.trim().split('\n').at(-1) ?? ''
}

it.each([
  ['a promise that fails', `Promise.reject(new Error('Lost.'))`, 'Lost.'],
  ['a stream that fails', `createReadStream('/nowhere')`, 'ENOENT'],
])(
  '%s while something before it is awaited ends the call and not the process',
  async (_, value, words) => {
    expect(await runAlone(`return { slow: sleep(50), bad: ${value} }`)).toContain(words)
  },
)

it('nor does a run that its middleware turned away from', async () => {
  const cached = `async (_, next) => { next(); await sleep(50); return 'cached' }`
  expect(await runAlone(`throw new Error('Lost.')`, cached)).toBe('cached')
})
