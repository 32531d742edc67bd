import validate from 'asl-validator'
import * as z from 'zod'
import type { RouteTable } from '../../../lib/http/route-table.ts'
import { definition } from '../../../lib/workflow/definition.ts'
import { ACCOUNT, REGION } from '../synth/account.ts'
import { all, one, ROLE } from '../synth/find.ts'
import type { Synthesis } from '../synth/synthesis.ts'
import { compareLists, differs } from './differs.ts'

const arnOf = (prefix: string, name: string) =>
  `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${prefix}${name}`

/** What is wrong with the machine: AWS's language allows it, and it is ours, with ARNs of functions. */
export const machineProblems = (synthesis: Synthesis, { prefix }: { prefix: string }): string[] => {
  const { inputs } = one(synthesis, 'aws:sfn/stateMachine:StateMachine')
  const read = () => JSON.parse(String(inputs.definition)) as Parameters<typeof validate>[0]
  // The validator writes its defaults into what it is given.
  const { isValid, errorsText } = validate(read(), { checkPaths: true, checkArn: true })
  const ours = definition({ tick: arnOf(prefix, 'tick'), park: arnOf(prefix, 'park') })
  return [
    ...(isValid ? [] : [`The state machine is not in AWS’s language: ${errorsText()}`]),
    ...differs('The state machine', read(), JSON.parse(JSON.stringify(ours))),
    ...differs('Its kind', inputs.type, 'STANDARD'),
    ...differs('Its name', inputs.name, `${prefix}workflow`),
    ...differs('Its role', inputs.roleArn, one(synthesis, ROLE, 'WorkflowRole').state.arn),
  ]
}

const Schedule = z.object({
  scheduleExpression: z.string(),
  state: z.string(),
  target: z.object({ arn: z.string(), roleArn: z.string() }),
})

export const scheduleProblems = (
  synthesis: Synthesis,
  { table, prefix }: { table: RouteTable; prefix: string },
): string[] => {
  const made = all(synthesis, 'aws:scheduler/schedule:Schedule').map(({ inputs }) => {
    const { scheduleExpression, state, target } = Schedule.parse(inputs)
    return `${scheduleExpression} ${state} → ${target.arn}`
  })
  const expected = table.schedules.map(({ rateMinutes, functionName }) => {
    const rate = rateMinutes === 1 ? 'rate(1 minute)' : `rate(${rateMinutes} minutes)`
    return `${rate} ENABLED → ${arnOf(prefix, functionName)}`
  })
  return compareLists('The schedule', made, expected)
}
