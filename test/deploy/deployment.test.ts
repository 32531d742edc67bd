import { beforeAll, describe, expect, it } from 'vitest'
import { routeTable } from '../../functions/routes.ts'
import { prefixOf } from '../../lib/deploy/names.ts'
import { routerSecretOf } from '../../lib/deploy/router.ts'
import { exposureProblems } from './problems/exposure.ts'
import { functionProblems } from './problems/functions.ts'
import { idleProblems } from './problems/idle.ts'
import { keepingProblems } from './problems/keeping.ts'
import { roleProblems } from './problems/roles.ts'
import { routeProblems } from './problems/routes.ts'
import { secretNames, secretProblems } from './problems/secrets.ts'
import { bucketProblems, tableProblems } from './problems/stores.ts'
import { machineProblems, scheduleProblems } from './problems/workflow.ts'
import { ENVIRONMENT, EXPECTED, SECRETS, type Stage, synthesisOf } from './stages.ts'
import { lambdas, roles } from './synth/find.ts'
import type { Synthesis } from './synth/synthesis.ts'

const table = await routeTable()
let syntheses: Record<Stage, Synthesis>

beforeAll(async () => {
  const [production, personal, dev] = await Promise.all(
    (['production', 'personal', 'dev'] as const).map(synthesisOf),
  )
  if (production && personal && dev) syntheses = { production, personal, dev }
})

describe.each([
  { stage: 'production', name: 'production', emailSender: ENVIRONMENT.ESPALIER_EMAIL_SENDER },
  { stage: 'personal', name: 'ada', emailSender: '' },
] as const)('a deploy of $name', ({ stage, name, emailSender }) => {
  const isProduction = stage === 'production'
  const { logDays, recovers } = EXPECTED[stage]
  const prefix = prefixOf({ name: 'espalier', stage: name })
  const specs = table.functions
  const streams = specs.filter(spec => spec.streams).map(spec => prefix + spec.name)

  it('evaluates to its end', () => {
    expect(syntheses[stage].errors).toEqual([])
    expect(syntheses[stage].outputs.api).toMatch(/^https:\/\/[0-9a-f]+\.cloudfront\.net$/)
    const { table, bucket } = syntheses[stage].outputs
    expect([typeof table, typeof bucket]).toEqual(['string', 'string'])
    const tick = syntheses[stage].resources.find(({ inputs }) => inputs.name === `${prefix}tick`)
    expect(tick?.inputs).toMatchObject({
      environment: { variables: { ESPALIER_TABLE: table, ESPALIER_BUCKET: bucket } },
    })
  })

  it('has each function of the table, with its memory, time, role and logs, and no other', () => {
    expect(functionProblems(syntheses[stage], { specs, prefix, logDays })).toEqual([])
  })

  it('answers the routes of the table and no others', () => {
    expect(routeProblems(syntheses[stage], { table, prefix })).toEqual([])
  })

  it('lets each role do what its function’s reach asks for, by name, and nothing else', () => {
    expect(roleProblems(syntheses[stage], { specs, prefix, emailSender })).toEqual([])
  })

  it('lets nobody invoke a function but through its API and its Router', () => {
    expect(exposureProblems(syntheses[stage], { streams })).toEqual([])
  })

  it('makes the table with its keys, indexes and recovery', () => {
    expect(tableProblems(syntheses[stage], { isProduction, recovers })).toEqual([])
  })

  it('makes a bucket that is open to nobody', () => {
    expect(bucketProblems(syntheses[stage])).toEqual([])
  })

  it('makes the state machine out of ours, with the ARNs of its functions', () => {
    expect(machineProblems(syntheses[stage], { prefix })).toEqual([])
  })

  it('runs the sweeper by the clock', () => {
    expect(scheduleProblems(syntheses[stage], { table, prefix })).toEqual([])
  })

  it('keeps the values of secrets where only secrets are', () => {
    const values = { ...SECRETS, 'the Router’s secret': routerSecretOf(SECRETS.LinkKeys) }
    expect(secretProblems(syntheses[stage], values)).toEqual([])
  })

  it(isProduction ? 'keeps its data whatever happens' : 'can be removed whole', () => {
    expect(keepingProblems(syntheses[stage], { isProduction })).toEqual([])
  })
})

describe('a personal stage', () => {
  it('has nothing that costs while nobody uses it', () => {
    expect(idleProblems(syntheses.personal)).toEqual([])
  })
})

describe('the secrets', () => {
  it('are those that the docs name', () => {
    expect(secretNames(syntheses.production)).toEqual(
      expect.arrayContaining([
        'SettingsKeys',
        'LinkKeys',
        'ClaimSecret',
        'OidcClientSecret',
        'OpenaiApiKey',
        'AnthropicApiKey',
        'GoogleApiKey',
        'XaiApiKey',
        'OpenaiCompatibleApiKey',
      ]),
    )
  })

  it('reach the functions that need them and no others', () => {
    const told = (variable: string) =>
      lambdas(syntheses.production)
        .filter(({ environment }) => variable in environment.variables)
        .map(({ name }) => name.replace('espalier-production-', ''))
    expect(told('ESPALIER_CLAIM_SECRET')).toEqual(['admin-claim'])
    expect(told('ESPALIER_OIDC_CLIENT_SECRET')).toEqual(['admin-sign-in'])
    expect(told('OPENAI_API_KEY').sort()).toEqual(['admin-llm-configurations', 'tick'])
    expect(told('ESPALIER_SETTINGS_KEYS')).not.toContain('admin-public-media')
  })
})

describe('what a function may do, said by hand', () => {
  const arn = (service: string, resource: string) =>
    `arn:aws:${service}:eu-central-1:123456789012:${resource}`
  const statementsOf = (component: string) => {
    const role = roles(syntheses.production).find(({ name }) => name === `${component}Role`)
    if (!role) throw new Error(`There is no role of ${component}.`)
    return role.statements
  }
  const actionsOf = (component: string) =>
    [...new Set(statementsOf(component).flatMap(({ Action = [] }) => Action))].sort()

  it('is the floor, for an operation that touches nothing of its own', () => {
    expect(actionsOf('ToolTimeNow')).toEqual([
      'dynamodb:BatchGetItem',
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'logs:CreateLogStream',
      'logs:PutLogEvents',
      's3:GetObject',
      's3:PutObject',
      'sqs:SendMessage',
    ])
    const writes = statementsOf('ToolTimeNow').filter(({ Action }) =>
      Action?.some(action => /^dynamodb:(?:Put|Update)Item$/.test(action)),
    )
    const keys = writes.flatMap(
      ({ Condition }) => Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? [],
    )
    expect([...new Set(keys)].sort()).toEqual(['call_*', 'delivery_*', 'rate#*', 'seen#key_*'])
    const objects = statementsOf('ToolTimeNow')
      .filter(({ Action }) => Action?.includes('s3:PutObject'))
      .flatMap(({ Resource = [] }) => Resource.map(each => each.split('/').slice(1).join('/')))
    expect([...new Set(objects)].sort()).toEqual(['large/call_*', 'results/call_*'])
  })

  it('has one prefix of functions, the tick’s, and that is the operations’', () => {
    const invoked = statementsOf('Tick')
      .filter(({ Action }) => Action?.includes('lambda:InvokeFunction'))
      .flatMap(({ Resource = [] }) => Resource)
    expect(invoked.sort()).toEqual([
      arn('lambda', 'function:espalier-production-notify'),
      arn('lambda', 'function:espalier-production-tool-*'),
    ])
  })

  it('is a log alone, for what reads nothing', () => {
    expect(actionsOf('AdminOpenapi')).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents'])
  })

  it('lets whoever opens a public link read, and change nothing', () => {
    const changes = actionsOf('AdminPublicMedia').filter(action =>
      /Put|Update|Delete|Invoke|Start|Send/.test(action),
    )
    expect(changes).toEqual(['logs:PutLogEvents'])
  })
})
