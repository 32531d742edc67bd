import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Manifest } from '../../../lib/deploy/make-bundles.ts'
import { functionName } from '../../../lib/deploy/names.ts'
import { narrowed } from '../../../lib/deploy/narrow.ts'
import { permissionsOf, type Statement, type Targets } from '../../../lib/deploy/permissions.ts'
import { bundlesFolder, MANIFEST } from '../../../lib/deploy/prepare-bundles.ts'
import type { FunctionSpec } from '../../../lib/http/route-table.ts'
import { ACCOUNT, REGION } from '../synth/account.ts'
import { type IamStatement, lambdas, one, type Role, roles } from '../synth/find.ts'
import type { Synthesis } from '../synth/synthesis.ts'
import { BUNDLED, ROOT } from '../synth/synthesize.ts'
import { compareLists, differs } from './differs.ts'

/** Of a role's inline policies together, white space not counted: "IAM and AWS STS quotas". */
export const MAX_ROLE_POLICY_CHARS = 10_240

/** Actions for which AWS knows no resource, and what limits them instead. */
const WITHOUT_RESOURCE: Record<string, string> = {
  'states:SendTaskSuccess': 'takes the token of one wait, which nobody can guess',
}

const SERVICES: Record<string, string> = {
  WorkflowRole: 'states.amazonaws.com',
  SweepScheduleRole: 'scheduler.amazonaws.com',
}

/** What is wrong with who may do what: functions may do what their reach says, and others less. */
export const roleProblems = (
  synthesis: Synthesis,
  {
    specs,
    prefix,
    emailSender = '',
  }: { specs: readonly FunctionSpec[]; prefix: string; emailSender?: string },
): string[] => {
  const made = roles(synthesis)
  const functions = lambdas(synthesis)
  const bundles = JSON.parse(
    readFileSync(path.join(ROOT, bundlesFolder(BUNDLED), MANIFEST), 'utf8'),
  ) as Manifest
  return [
    ...made.flatMap(role => [
      ...statementProblems(role),
      ...sizeProblems(role),
      ...trustProblems(role),
      ...role.managed.map(arn => `The role ${role.name} has the managed policy ${arn}`),
    ]),
    ...attachments(synthesis),
    ...specs.flatMap(spec => {
      const lambda = functions.find(({ name }) => name === functionName(prefix, spec))
      const role = made.find(({ arn }) => arn === lambda?.role)
      if (!role) return [`${spec.name} has no role`]
      const targets = targetsOf(synthesis, { spec, prefix, emailSender })
      return compareLists(
        `In the role of ${spec.name}, the statement`,
        role.statements.map(canonical),
        narrowed(permissionsOf(spec, targets), bundles[spec.module]?.actions ?? [])
          .map(asIam)
          .map(canonical),
      )
    }),
    ...invokerProblems(made, { prefix, queue: queueArn(synthesis) }),
  ]
}

const statementProblems = ({ name, statements }: Role): string[] =>
  statements.flatMap(statement => [
    ...differs(`An effect in ${name}`, statement.Effect, 'Allow'),
    ...(['NotAction', 'NotResource', 'Principal'] as const)
      .filter(key => statement[key] !== undefined)
      .map(key => `The role ${name} has a ${key}`),
    ...(statement.Action ?? [])
      .filter(action => /[*?]/.test(action))
      .map(action => `The role ${name} allows the wildcard ${action}`),
    ...(statement.Resource?.includes('*')
      ? (statement.Action ?? [])
          .filter(action => WITHOUT_RESOURCE[action] === undefined)
          .map(action => `The role ${name} allows ${action} for every resource`)
      : []),
  ])

const sizeProblems = ({ name, policies }: Role): string[] => {
  const chars = policies.join('').replaceAll(/\s/g, '').length
  if (chars <= MAX_ROLE_POLICY_CHARS) return []
  return [`The policies of ${name} have ${chars} characters; IAM takes ${MAX_ROLE_POLICY_CHARS}`]
}

const trustProblems = ({ name, trust }: Role): string[] =>
  differs(
    `Whom ${name} trusts`,
    trust.map(({ Effect, Action, Principal }) => ({ Effect, Action, Principal })),
    [
      {
        Effect: 'Allow',
        Action: ['sts:AssumeRole'],
        Principal: { Service: [SERVICES[name] ?? 'lambda.amazonaws.com'] },
      },
    ],
  )

/** Ways to give a role more than is written in it. */
const attachments = ({ resources }: Synthesis): string[] =>
  resources
    .filter(({ type }) => type.startsWith('aws:iam/') && type !== 'aws:iam/role:Role')
    .map(({ type, name }) => `${name} (${type}) gives what no role’s own text says`)

/** Who else invokes functions: the machine its two; the schedule the sweeper, and says if it can't. */
const invokerProblems = (
  made: Role[],
  { prefix, queue }: { prefix: string; queue: string },
): string[] => {
  const arnOf = (name: string) => `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${prefix}${name}`
  const invokes = (names: string[]) => [
    { Effect: 'Allow', Action: ['lambda:InvokeFunction'], Resource: names.map(arnOf) },
  ]
  const statements = (name: string) => made.find(role => role.name === name)?.statements
  return [
    ...differs(
      'What the state machine may do',
      statements('WorkflowRole'),
      invokes(['tick', 'park']),
    ),
    ...differs('What the schedule may do', statements('SweepScheduleRole'), [
      ...invokes(['sweep']),
      { Effect: 'Allow', Action: ['sqs:SendMessage'], Resource: [queue] },
    ]),
  ]
}

/** The ARNs of the deployment, from what was made. */
const targetsOf = (
  synthesis: Synthesis,
  { spec, prefix, emailSender }: { spec: FunctionSpec; prefix: string; emailSender: string },
): Targets => {
  const arn = (service: string, resource: string) =>
    `arn:aws:${service}:${REGION}:${ACCOUNT}:${resource}`
  return {
    table: String(one(synthesis, 'aws:dynamodb/table:Table').state.arn),
    bucket: String(one(synthesis, 'aws:s3/bucket:Bucket').state.arn),
    stateMachine: String(one(synthesis, 'aws:sfn/stateMachine:StateMachine').state.arn),
    functions: arn('lambda', `function:${prefix}`),
    identities: arn('ses', 'identity/'),
    emailSender,
    logGroup: arn('logs', `log-group:/aws/lambda/${functionName(prefix, spec)}`),
    deadLetters: queueArn(synthesis),
  }
}

const queueArn = (synthesis: Synthesis): string =>
  String(one(synthesis, 'aws:sqs/queue:Queue', 'DeadLettersQueue').state.arn)

const asIam = ({ actions, resources, conditions }: Statement): IamStatement => ({
  Effect: 'Allow',
  Action: actions,
  Resource: resources,
  ...(conditions
    ? {
        Condition: Object.fromEntries(
          conditions.map(({ test, variable, values }) => [test, { [variable]: values }]),
        ),
      }
    : {}),
})

/** Neither the order of actions nor that of resources means anything to IAM. */
const canonical = ({ Action = [], Resource = [], ...rest }: IamStatement): string =>
  JSON.stringify({ Action: [...Action].sort(), Resource: [...Resource].sort(), ...rest })
