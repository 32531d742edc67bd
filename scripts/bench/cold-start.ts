import path from 'node:path'
import { BARE, measureFunctions } from './functions-stage.ts'
import { median } from './process.ts'

// Import and first call of one operation's function beside the bare libraries, in alternating
// fresh processes of one run: only the ratio counts.

const RUNS = Number(process.argv[2] ?? 15)

const measured = await measureFunctions(
  [
    BARE,
    {
      name: 'time now',
      entry: path.join(import.meta.dirname, '../../functions/tools/time.ts'),
      call: { path: '/api/v1/tools/time/operations/now', body: {} },
    },
  ],
  { tools: ['time'], rounds: RUNS },
)
const totals = measured.map(({ name, bytes, samples }) => {
  const importMs = median(samples.map(sample => sample.importMs))
  const callMs = median(samples.map(sample => sample.callMs ?? 0))
  const totalMs = median(samples.map(sample => sample.importMs + (sample.callMs ?? 0)))
  process.stdout.write(
    `${name.padEnd(10)} ${(bytes / 1024).toFixed(0).padStart(5)} KiB  import ${importMs.toFixed(0).padStart(4)} ms  first call ${callMs.toFixed(0).padStart(4)} ms  together ${totalMs.toFixed(0).padStart(4)} ms\n`,
  )
  return totalMs
})
process.stdout.write(
  `ratio ${((totals[1] ?? 0) / (totals[0] ?? 1)).toFixed(2)} over ${RUNS} runs each\n`,
)
