import * as z from 'zod'
import { all, one, ROLE } from '../synth/find.ts'
import type { Resource, Synthesis } from '../synth/synthesis.ts'

// What breaks a sound synthesis, to see that it is found out.

/** What is wrong, how it comes to be, and a part of the sentence that is to say so. */
export type Fault = [what: string, spoil: (synthesis: Synthesis) => void, problem: string]

/** A resource of a type, the first or the one that is named so, to be spoiled. */
export const find = (synthesis: Synthesis, type: string, name?: string): Resource => {
  const found = all(synthesis, type).find(each => name === undefined || each.name === name)
  if (!found) throw new Error(`There is no ${type} ${name}.`)
  return found
}

export const add = (synthesis: Synthesis, type: string, inputs: Record<string, unknown>): void => {
  synthesis.resources.push({ ...one(synthesis, 'aws:dynamodb/table:Table'), type, inputs })
}

export const rewriteRole = (
  synthesis: Synthesis,
  { name, change }: { name: string; change: (statements: Record<string, unknown>[]) => unknown[] },
): void => {
  const { inputs } = find(synthesis, ROLE, name)
  const [policy] = z
    .array(z.object({ name: z.string(), policy: z.string() }))
    .parse(inputs.inlinePolicies)
  const { Version, Statement } = JSON.parse(policy?.policy ?? '')
  inputs.inlinePolicies = [
    { ...policy, policy: JSON.stringify({ Version, Statement: change(Statement) }) },
  ]
}
