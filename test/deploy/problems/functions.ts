import * as z from 'zod'
import { functionName } from '../../../lib/deploy/names.ts'
import type { FunctionSpec } from '../../../lib/http/route-table.ts'
import { all, type Lambda, lambdas, roles } from '../synth/find.ts'
import type { Synthesis } from '../synth/synthesis.ts'
import { compareLists, differs } from './differs.ts'

/** https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
export const MAX_ENVIRONMENT_BYTES = 4_096
const LOG_GROUP = 'aws:cloudwatch/logGroup:LogGroup'

/** What is wrong with the functions of a synthesis: they are those of the table, as it says. */
export const functionProblems = (
  synthesis: Synthesis,
  { specs, prefix, logDays }: { specs: readonly FunctionSpec[]; prefix: string; logDays: number },
): string[] => {
  const made = lambdas(synthesis)
  const roleArns = new Set(roles(synthesis).map(({ arn }) => arn))
  const names = specs.map(spec => functionName(prefix, spec))
  return [
    ...compareLists(
      'The function',
      made.map(({ name }) => name),
      names,
    ),
    ...specs.flatMap(spec => {
      const lambda = made.find(({ name }) => name === functionName(prefix, spec))
      return lambda ? specProblems(synthesis, lambda, spec) : []
    }),
    ...made.flatMap(lambda => [
      ...roleProblems(lambda, { made, roleArns }),
      ...logGroupProblems(synthesis, { lambda, logDays }),
      ...environmentProblems(lambda),
    ]),
  ]
}

const specProblems = ({ dev }: Synthesis, lambda: Lambda, spec: FunctionSpec): string[] => [
  ...differs(`The memory of ${lambda.name}`, lambda.memorySize, spec.memoryMb),
  ...differs(`The timeout of ${lambda.name}`, lambda.timeout, spec.timeoutSeconds),
  // In `sst dev`, a bridge to whoever develops runs in the function's place.
  ...(dev
    ? []
    : [
        ...differs(`The architecture of ${lambda.name}`, lambda.architectures, ['arm64']),
        ...differs(`The runtime of ${lambda.name}`, lambda.runtime, 'nodejs24.x'),
      ]),
]

const roleProblems = (
  { name, role }: Lambda,
  { made, roleArns }: { made: Lambda[]; roleArns: Set<string> },
): string[] => [
  ...(roleArns.has(role)
    ? []
    : [`The function ${name} has the role ${role}, which isn't made here`]),
  ...(made.filter(other => other.role === role).length === 1
    ? []
    : [`The function ${name} shares its role`]),
]

const logGroupProblems = (
  synthesis: Synthesis,
  { lambda, logDays }: { lambda: Lambda; logDays: number },
): string[] => {
  const { name, loggingConfig } = lambda
  const group = all(synthesis, LOG_GROUP).find(
    ({ inputs }) => inputs.name === loggingConfig.logGroup,
  )
  if (!group)
    return [`The function ${name} logs to ${loggingConfig.logGroup}, which isn't made here`]
  return [
    ...differs(`The log group of ${name}`, group.inputs.name, `/aws/lambda/${name}`),
    ...differs(`The log retention of ${name} in days`, group.inputs.retentionInDays, logDays),
  ]
}

const environmentProblems = ({ name, environment }: Lambda): string[] => {
  const bytes = Object.entries(z.record(z.string(), z.string()).parse(environment.variables))
    .map(([key, value]) => Buffer.byteLength(key) + Buffer.byteLength(value))
    .reduce((sum, each) => sum + each, 0)
  if (bytes <= MAX_ENVIRONMENT_BYTES) return []
  return [`The environment of ${name} has ${bytes} bytes; Lambda takes ${MAX_ENVIRONMENT_BYTES}`]
}
