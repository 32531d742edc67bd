import * as z from 'zod'
import type { Resource, Synthesis } from './synthesis.ts'

// Reads what the assertions need of a synthesis, each kind of resource by a schema of its own.

export const all = ({ resources }: Pick<Synthesis, 'resources'>, type: string): Resource[] =>
  resources.filter(resource => resource.type === type)

/** The only resource of a type, or of a type and name. */
export const one = (synthesis: Synthesis, type: string, name?: string): Resource => {
  const found = all(synthesis, type).filter(each => name === undefined || each.name === name)
  const [first] = found
  if (first && found.length === 1) return first
  throw new Error(`There are ${found.length} resources of the type ${type}${name ?? ''}, not one.`)
}

export const LAMBDA = 'aws:lambda/function:Function'
export const ROLE = 'aws:iam/role:Role'

const Lambda = z.object({
  name: z.string(),
  role: z.string(),
  runtime: z.string(),
  handler: z.string(),
  architectures: z.array(z.string()),
  memorySize: z.number(),
  timeout: z.number(),
  description: z.string().optional(),
  environment: z.object({ variables: z.record(z.string(), z.string()) }),
  loggingConfig: z.object({ logGroup: z.string() }),
})
export type Lambda = z.infer<typeof Lambda> & { arn: string; resource: Resource }

export const lambdas = (synthesis: Synthesis): Lambda[] =>
  all(synthesis, LAMBDA).map(resource => ({
    ...Lambda.parse(resource.inputs),
    arn: z.string().parse(resource.state.arn),
    resource,
  }))

const Texts = z.union([z.string(), z.array(z.string())]).transform(texts => [texts].flat())
const IamStatement = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(['Allow', 'Deny']),
  Action: Texts.optional(),
  NotAction: Texts.optional(),
  Resource: Texts.optional(),
  NotResource: Texts.optional(),
  Principal: z.record(z.string(), Texts).optional(),
  Condition: z.record(z.string(), z.record(z.string(), Texts)).optional(),
})
export type IamStatement = z.infer<typeof IamStatement>
const Policy = z.object({ Version: z.literal('2012-10-17'), Statement: z.array(IamStatement) })

/** A policy's statements, whether it was given as text or as an object. */
export const statementsOf = (policy: unknown): IamStatement[] =>
  Policy.parse(typeof policy === 'string' ? JSON.parse(policy) : policy).Statement

const Role = z.object({
  assumeRolePolicy: z.unknown(),
  inlinePolicies: z.array(z.object({ name: z.string(), policy: z.string() })).default([]),
  managedPolicyArns: z.array(z.string()).default([]),
})
export type Role = {
  name: string
  arn: string
  trust: IamStatement[]
  policies: string[]
  statements: IamStatement[]
  managed: string[]
}

export const roles = (synthesis: Synthesis): Role[] =>
  all(synthesis, ROLE).map(({ name, inputs, state }) => {
    const { assumeRolePolicy, inlinePolicies, managedPolicyArns } = Role.parse(inputs)
    const policies = inlinePolicies.map(({ policy }) => policy)
    return {
      name,
      arn: z.string().parse(state.arn),
      trust: statementsOf(assumeRolePolicy),
      policies,
      statements: policies.flatMap(statementsOf),
      managed: managedPolicyArns,
    }
  })
