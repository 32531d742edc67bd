import { parseArgs } from 'node:util'
import { measureCalls } from './bench/calls.ts'
import { measureBuiltIns } from './bench/functions.ts'
import { type Figures, report } from './bench/report.ts'
import { measureSchemas } from './bench/schemas.ts'
import { measureSettings } from './bench/settings.ts'
import { hasGrown } from './bench/tasks/children.ts'
import { measureTasks } from './bench/tasks/measure.ts'
import { reportTasks } from './bench/tasks/report.ts'

// `npm run bench`: what the platform costs beside bare Hono, measured in one run; with `tasks`, what
// tasks cost beside a bare loop, which fails where a child costs more the more siblings it has.
// `--json` prints the figures as JSON, `--quick` measures less: enough to see that it runs.

const ROUNDS = 9
const CALLS = 2_000
const QUICK_CALLS = 50
/** How often a tool's settings are resolved in one round. */
const TIMES = 200
const QUICK_TIMES = 5

const USAGE = 'Usage: npm run bench [-- [tasks] [--json] [--quick]]\n'

const readOptions = () => {
  try {
    const { values, positionals } = parseArgs({
      options: { json: { type: 'boolean' }, quick: { type: 'boolean' } },
      allowPositionals: true,
    })
    const [stage, ...more] = positionals
    if (more.length > 0 || (stage !== undefined && stage !== 'tasks')) return undefined
    return { json: values.json ?? false, quick: values.quick ?? false, stage }
  } catch {
    return undefined
  }
}

const print = <T>(figures: T, asText: (figures: T) => string, json: boolean): void => {
  process.stdout.write(json ? `${JSON.stringify(figures, null, 2)}\n` : asText(figures))
}

const benchAll = async ({ json, quick }: { json: boolean; quick: boolean }): Promise<void> => {
  const rounds = quick ? 1 : ROUNDS
  const figures: Figures = {
    node: process.versions.node,
    rounds,
    schemas: await measureSchemas({ rounds }),
    calls: await measureCalls({ rounds, calls: quick ? QUICK_CALLS : CALLS }),
    settings: await measureSettings({ rounds, times: quick ? QUICK_TIMES : TIMES }),
    functions: await measureBuiltIns({ rounds }),
  }
  print(figures, report, json)
}

const benchTasks = async ({ json, quick }: { json: boolean; quick: boolean }): Promise<void> => {
  const figures = await measureTasks({ quick })
  print(figures, reportTasks, json)
  if (!hasGrown(figures.children)) return
  process.stderr.write('A child makes more requests the more siblings it has.\n')
  process.exitCode = 1
}

const options = readOptions()
if (!options) {
  process.stderr.write(USAGE)
  process.exitCode = 1
} else if (options.stage === 'tasks') await benchTasks(options)
else await benchAll(options)
