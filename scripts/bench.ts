import { parseArgs } from 'node:util'
import { measureCalls } from './bench/calls.ts'
import { measureBuiltIns } from './bench/functions.ts'
import { type Figures, report } from './bench/report.ts'
import { measureSchemas } from './bench/schemas.ts'
import { measureSettings } from './bench/settings.ts'

// `npm run bench`: what the platform costs beside bare Hono, measured in one run. `--json` prints
// the figures as JSON, `--quick` takes one round of each: enough to see that it runs.

const ROUNDS = 9
const CALLS = 2_000
const QUICK_CALLS = 50
/** How often a tool's settings are resolved in one round. */
const TIMES = 200
const QUICK_TIMES = 5

const USAGE = 'Usage: npm run bench [-- --json] [-- --quick]\n'

const readOptions = () => {
  try {
    const { values } = parseArgs({
      options: { json: { type: 'boolean' }, quick: { type: 'boolean' } },
    })
    return values
  } catch {
    return undefined
  }
}

const options = readOptions()
if (options) {
  const rounds = options.quick ? 1 : ROUNDS
  const figures: Figures = {
    node: process.versions.node,
    rounds,
    schemas: await measureSchemas({ rounds }),
    calls: await measureCalls({ rounds, calls: options.quick ? QUICK_CALLS : CALLS }),
    settings: await measureSettings({ rounds, times: options.quick ? QUICK_TIMES : TIMES }),
    functions: await measureBuiltIns({ rounds }),
  }
  process.stdout.write(options.json ? `${JSON.stringify(figures, null, 2)}\n` : report(figures))
} else {
  process.stderr.write(USAGE)
  process.exitCode = 1
}
