import { FUNCTION_PREFIX } from '../../lib/local/environment.ts'
import { operationFunction } from '../../lib/tool/alias.ts'
import { BARE, measureFunctions, request, type Subject } from './functions-stage.ts'
import { median } from './process.ts'

// Import and first call of functions beside the bare libraries, in alternating fresh processes of one
// run: only the ratio counts. `npm run bench:cold-start [-- rounds]`.

const RUNS = Number(process.argv[2] ?? 15)

const requests: Subject[] = [
  ['admin/principals', 'GET', '/api/v1/principals/me'],
  ['admin/agents', 'GET', '/api/v1/agents'],
  ['admin/tasks', 'GET', '/api/v1/tasks'],
  ['admin/tools', 'GET', '/api/v1/tools'],
  ['admin/media', 'GET', '/api/v1/media'],
].map(([module = '', method = '', path = '']) => ({
  name: `${method} ${path}`,
  entry: { module },
  event: request(method, path, { by: 'adminKey' }),
}))

const operations: Subject[] = [
  ['tools/user-info', 'user_info', 'get'],
  ['tools/time', 'time', 'now'],
].map(([module = '', tool, operation]) => ({
  name: `${tool}.${operation} by HTTP`,
  entry: { module },
  event: request('POST', `/api/v1/tools/${tool}/operations/${operation}`, { body: {} }),
}))

/** What needs no request of HTTP's; the call has run, and the task has ended. */
const events: Subject[] = [
  {
    name: 'time.now by its id',
    entry: { module: 'tools/time' },
    event: ({ callId }) => ({ callId }),
    functionName: `${FUNCTION_PREFIX}${operationFunction('time', 'now')}`,
  },
  {
    name: 'tick',
    entry: { module: 'workflow/tick' },
    event: ({ taskId }) => ({ taskId, generation: 0 }),
  },
  {
    name: 'park',
    entry: { module: 'workflow/park' },
    event: ({ taskId }) => ({ taskId, generation: 0, token: 'a-token', wakeSeq: 0, fence: 0 }),
  },
]

const kib = (bytes: number): string => (bytes / 1024).toFixed(0).padStart(4)
const shown = (milliseconds: number): string => `${milliseconds.toFixed(0).padStart(4)} ms`

const measured = await measureFunctions([BARE, ...requests, ...operations, ...events], {
  tools: ['time', 'user_info'],
  rounds: RUNS,
})
let bareMs: number | undefined
for (const { name, startBytes, bytes, samples } of measured) {
  const importMs = median(samples.map(sample => sample.importMs))
  const callMs = median(samples.map(sample => sample.callMs ?? 0))
  const togetherMs = median(samples.map(sample => sample.importMs + (sample.callMs ?? 0)))
  bareMs ??= togetherMs
  process.stdout.write(
    [
      name.padEnd(26),
      `${kib(startBytes)} of ${kib(bytes)} KiB`,
      `import ${shown(importMs)}`,
      `first call ${shown(callMs)}`,
      `together ${shown(togetherMs)}`,
      `${(togetherMs / bareMs).toFixed(2)} of bare\n`,
    ].join('  '),
  )
}
process.stdout.write(`medians of ${RUNS} fresh processes each\n`)
