import { ACCOUNT, arnOf, REGION } from './account.ts'

type Statement = {
  sid?: string
  effect?: string
  actions?: string[]
  notActions?: string[]
  resources?: string[]
  notResources?: string[]
  principals?: { type: string; identifiers: string[] }[]
  conditions?: { test: string; variable: string; values: string[] }[]
}

/** What AWS answers to what the program asks of it; anything else is an error that names it. */
export const answer = (token: string, inputs: Record<string, unknown>): Record<string, unknown> => {
  const source = SOURCES[token]
  if (source) return source(inputs)
  throw new Error(
    `The config asks AWS for ${token}, which test/deploy/synth/data-sources.ts has no answer to.`,
  )
}

const SOURCES: Record<string, (inputs: Record<string, unknown>) => Record<string, unknown>> = {
  'aws:index/getPartition:getPartition': () => ({
    id: 'aws',
    partition: 'aws',
    dnsSuffix: 'amazonaws.com',
    reverseDnsPrefix: 'com.amazonaws',
  }),
  'aws:index/getRegion:getRegion': () => ({
    id: REGION,
    name: REGION,
    region: REGION,
    description: 'Europe (Frankfurt)',
    endpoint: `ec2.${REGION}.amazonaws.com`,
  }),
  'aws:index/getCallerIdentity:getCallerIdentity': () => ({
    id: ACCOUNT,
    accountId: ACCOUNT,
    arn: arnOf('iam', 'user/deployer', { region: '' }),
    userId: 'AIDAEXAMPLE',
  }),
  // What an account has that AWS has raised nothing for, and is no longer new.
  'aws:servicequotas/getServiceQuota:getServiceQuota': inputs => ({
    ...inputs,
    id: `${inputs.serviceCode}/${inputs.quotaCode}`,
    quotaName: 'Concurrent executions',
    value: 1_000,
    defaultValue: 1_000,
    adjustable: true,
  }),
  'aws:iam/getPolicyDocument:getPolicyDocument': inputs => {
    const json = policyDocument((inputs.statements as Statement[] | undefined) ?? [])
    return { ...inputs, id: 'policy', json, minifiedJson: json }
  },
}

const policyDocument = (statements: Statement[]): string =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: statements.map(statement => ({
      ...(statement.sid ? { Sid: statement.sid } : {}),
      Effect: statement.effect ?? 'Allow',
      Action: statement.actions,
      NotAction: statement.notActions,
      Resource: statement.resources,
      NotResource: statement.notResources,
      Principal: principalsOf(statement),
      Condition: conditionsOf(statement),
    })),
  })

const principalsOf = ({ principals }: Statement) =>
  principals && Object.fromEntries(principals.map(({ type, identifiers }) => [type, identifiers]))

const conditionsOf = ({ conditions }: Statement) => {
  if (!conditions || conditions.length === 0) return undefined
  const byTest: Record<string, Record<string, string[]>> = {}
  for (const { test, variable, values } of conditions)
    byTest[test] = { ...byTest[test], [variable]: values }
  return byTest
}
