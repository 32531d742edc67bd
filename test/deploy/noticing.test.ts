import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { routeTable } from '../../functions/routes.ts'
import { prefixOf } from '../../lib/deploy/names.ts'
import { exposureProblems } from './problems/exposure.ts'
import { functionProblems } from './problems/functions.ts'
import { idleProblems } from './problems/idle.ts'
import { keepingProblems } from './problems/keeping.ts'
import { roleProblems } from './problems/roles.ts'
import { routeProblems } from './problems/routes.ts'
import { secretProblems } from './problems/secrets.ts'
import { bucketProblems, tableProblems } from './problems/stores.ts'
import { machineProblems, scheduleProblems } from './problems/workflow.ts'
import { SECRETS, synthesisOf } from './stages.ts'
import { changeText, wrapExport } from './synth/change.ts'
import { all, LAMBDA, one, ROLE } from './synth/find.ts'
import type { Resource, Synthesis } from './synth/synthesis.ts'
import { synthesize } from './synth/synthesize.ts'

// Whether what finds nothing would find something: faults in the config, and in what came of it.

const table = await routeTable()
const specs = table.functions
const prefix = prefixOf({ name: 'espalier', stage: 'ada' })
const streams = [`${prefix}admin-task-stream`]

const problemsOf = (synthesis: Synthesis): string[] => [
  ...functionProblems(synthesis, { specs, prefix }),
  ...routeProblems(synthesis, { table, prefix }),
  ...roleProblems(synthesis, { specs, prefix }),
  ...exposureProblems(synthesis, { streams }),
  ...tableProblems(synthesis, { isProduction: false }),
  ...bucketProblems(synthesis),
  ...machineProblems(synthesis, { prefix }),
  ...scheduleProblems(synthesis, { table, prefix }),
  ...secretProblems(synthesis, SECRETS),
  ...keepingProblems(synthesis, { isProduction: false }),
  ...idleProblems(synthesis),
]

describe('a config with faults', () => {
  let synthesis: Synthesis
  beforeAll(async () => {
    synthesis = await synthesize({
      stage: 'ada',
      secrets: { SettingsKeys: SECRETS.SettingsKeys, LinkKeys: SECRETS.LinkKeys },
      replaced: {
        ...wrapExport(
          'functions/routes.ts',
          'routeTable',
          `original => async () => {
            const table = await original()
            const functions = table.functions.map(spec =>
              spec.name === 'park' ? { ...spec, memoryMb: 128 } : spec)
            const routes = table.routes.filter(({ path }) => path !== '/api/v1/keys/{id}')
            return { ...table, functions, routes }
          }`,
        ),
        ...wrapExport(
          'lib/deploy/permissions.ts',
          'permissionsOf',
          `original => (spec, targets) => [
            ...original(spec, targets),
            ...(spec.name === 'tick' ? [{ actions: ['dynamodb:*'], resources: [targets.table] }] : []),
          ]`,
        ),
        ...wrapExport(
          'lib/workflow/definition.ts',
          'definition',
          "original => functions => ({ ...original(functions), StartAt: 'Nowhere' })",
        ),
        ...changeText(
          'sst.config.ts',
          'ttl: TTL_ATTRIBUTE,',
          'ttl: TTL_ATTRIBUTE, transform: { table: { pointInTimeRecovery: { enabled: false } } },',
        ),
      },
    })
  })

  it('is evaluated all the same', () => {
    expect(synthesis.errors).toEqual([])
  })

  it.each([
    ['a route that is gone', 'The route "DELETE /api/v1/keys/{id} → espalier-ada-admin-keys"'],
    ['less memory', 'The memory of espalier-ada-park is 128, not 512'],
    ['a wildcard of actions', 'TickRole allows the wildcard dynamodb:*'],
    ['a statement that no reach asks for', 'In the role of tick, the statement'],
    ['a table without recovery', 'Point-in-time recovery is false'],
    ['a machine that starts nowhere', 'The state machine is not in AWS’s language'],
  ])('is found out: %s', (_what, problem) => {
    expect(problemsOf(synthesis).join('\n')).toContain(problem)
  })
})

/** A resource of a type, the first or the one that is named so, to be spoiled. */
const find = (synthesis: Synthesis, type: string, name?: string): Resource => {
  const found = all(synthesis, type).find(each => name === undefined || each.name === name)
  if (!found) throw new Error(`There is no ${type} ${name}.`)
  return found
}

const add = (synthesis: Synthesis, type: string, inputs: Record<string, unknown>): void => {
  synthesis.resources.push({ ...one(synthesis, 'aws:dynamodb/table:Table'), type, inputs })
}

const rewriteRole = (
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

const FAULTS: [string, (synthesis: Synthesis) => void, string][] = [
  [
    'a function that is gone',
    synthesis => {
      const gone = find(synthesis, LAMBDA, 'ParkFunction')
      synthesis.resources = synthesis.resources.filter(each => each !== gone)
    },
    'The function "espalier-ada-park" is missing',
  ],
  [
    'a function that nobody asked for',
    synthesis =>
      synthesis.resources.push({
        ...find(synthesis, LAMBDA),
        inputs: { ...find(synthesis, LAMBDA).inputs, name: 'another' },
      }),
    'The function "another" is not asked for',
  ],
  [
    'another processor',
    synthesis => {
      find(synthesis, LAMBDA).inputs.architectures = ['x86_64']
    },
    'is ["x86_64"], not ["arm64"]',
  ],
  [
    'an older runtime',
    synthesis => {
      find(synthesis, LAMBDA).inputs.runtime = 'nodejs20.x'
    },
    'is "nodejs20.x"',
  ],
  [
    'a shared role',
    synthesis => {
      find(synthesis, LAMBDA, 'ParkFunction').inputs.role = find(
        synthesis,
        LAMBDA,
        'TickFunction',
      ).inputs.role
    },
    'The function espalier-ada-park shares its role',
  ],
  [
    'logs that are kept for ever',
    synthesis => {
      delete find(synthesis, 'aws:cloudwatch/logGroup:LogGroup', 'TickLogGroup').inputs
        .retentionInDays
    },
    'The log retention of espalier-ada-tick',
  ],
  [
    'an environment that is too large',
    synthesis => {
      find(synthesis, LAMBDA, 'TickFunction').inputs.environment = {
        variables: { BIG: 'x'.repeat(4_094) },
      }
    },
    'The environment of espalier-ada-tick has 4097 bytes',
  ],
  [
    'a route that leads elsewhere',
    synthesis => {
      find(synthesis, 'aws:apigatewayv2/integration:Integration').inputs.integrationUri =
        'arn:other'
    },
    'unknown arn:other',
  ],
  [
    'a stream that is answered whole',
    synthesis => {
      find(synthesis, 'aws:lambda/functionUrl:FunctionUrl').inputs.invokeMode = 'BUFFERED'
    },
    'The way that espalier-ada-admin-task-stream sends is "BUFFERED"',
  ],
  [
    'a statement that is missing',
    synthesis => rewriteRole(synthesis, { name: 'TickRole', change: each => each.slice(1) }),
    'In the role of tick, the statement',
  ],
  [
    'a right to anything',
    synthesis =>
      rewriteRole(synthesis, {
        name: 'ParkRole',
        change: each => [...each, { Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['*'] }],
      }),
    'The role ParkRole allows s3:GetObject for every resource',
  ],
  [
    'a right to all but one thing',
    synthesis =>
      rewriteRole(synthesis, {
        name: 'ParkRole',
        change: each => [
          ...each,
          { Effect: 'Allow', NotAction: ['s3:GetObject'], Resource: ['a'] },
        ],
      }),
    'The role ParkRole has a NotAction',
  ],
  [
    'policies past IAM’s quota',
    synthesis =>
      rewriteRole(synthesis, {
        name: 'ParkRole',
        change: each => [
          ...each,
          { Effect: 'Allow', Action: ['a:b'], Resource: ['r'.repeat(10_240)] },
        ],
      }),
    'IAM takes 10240',
  ],
  [
    'a role that others may take on',
    synthesis => {
      find(synthesis, ROLE, 'ParkRole').inputs.assumeRolePolicy = {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Action: 'sts:AssumeRole',
            Principal: { Service: 'lambda.amazonaws.com', AWS: 'arn:aws:iam::123456789012:root' },
          },
        ],
      }
    },
    'Whom ParkRole trusts',
  ],
  [
    'a managed policy',
    synthesis => {
      find(synthesis, ROLE, 'ParkRole').inputs.managedPolicyArns = ['arn:aws:iam::aws:policy/Admin']
    },
    'The role ParkRole has the managed policy',
  ],
  [
    'a policy that is attached',
    synthesis => add(synthesis, 'aws:iam/rolePolicy:RolePolicy', {}),
    'gives what no role’s own text says',
  ],
  [
    'a machine that may invoke more',
    synthesis =>
      rewriteRole(synthesis, {
        name: 'WorkflowRole',
        change: () => [{ Effect: 'Allow', Action: ['lambda:InvokeFunction'], Resource: ['arn:x'] }],
      }),
    'What the state machine may do',
  ],
  [
    'a function that anyone may invoke',
    synthesis => {
      find(synthesis, 'aws:lambda/permission:Permission').inputs.principal = '*'
    },
    'is "*", not "apigateway.amazonaws.com"',
  ],
  [
    'a function that any API may invoke',
    synthesis => {
      delete find(synthesis, 'aws:lambda/permission:Permission').inputs.sourceArn
    },
    'From where',
  ],
  [
    'a URL that asks nobody who they are',
    synthesis => {
      find(synthesis, 'aws:lambda/functionUrl:FunctionUrl').inputs.authorizationType = 'NONE'
    },
    'espalier-ada-admin-task-stream NONE',
  ],
  [
    'a Router that signs nothing',
    synthesis => {
      for (const { inputs } of all(synthesis, 'pulumi-nodejs:dynamic:Resource'))
        if (inputs.entries)
          inputs.entries = JSON.parse(JSON.stringify(inputs.entries).replace('always', 'never'))
    },
    'What the Router signs',
  ],
  [
    'a Router that keeps answers',
    synthesis => {
      const { inputs } = one(synthesis, 'aws:cloudfront/distribution:Distribution')
      inputs.defaultCacheBehavior = {
        ...(inputs.defaultCacheBehavior as object),
        cachePolicyId: 'x',
      }
    },
    'The Router’s cache policy',
  ],
  [
    'an index of another key',
    synthesis => {
      const { inputs } = one(synthesis, 'aws:dynamodb/table:Table')
      inputs.globalSecondaryIndexes = JSON.parse(
        JSON.stringify(inputs.globalSecondaryIndexes).replace('gsi2sk', 'gsi2s'),
      )
    },
    'The list of indexes',
  ],
  [
    'a table that is paid for by the hour',
    synthesis => {
      one(synthesis, 'aws:dynamodb/table:Table').inputs.billingMode = 'PROVISIONED'
    },
    'How the table is billed',
  ],
  [
    'rows that are kept for ever',
    synthesis => {
      one(synthesis, 'aws:dynamodb/table:Table').inputs.ttl = {
        attributeName: 'ttl',
        enabled: false,
      }
    },
    'The table’s TTL',
  ],
  [
    'a bucket that may be opened',
    synthesis => {
      one(
        synthesis,
        'aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock',
      ).inputs.blockPublicPolicy = false
    },
    'The bucket’s blockPublicPolicy',
  ],
  [
    'a bucket that takes plain HTTP',
    synthesis => {
      one(synthesis, 'aws:s3/bucketPolicy:BucketPolicy').inputs.policy =
        '{"Version":"2012-10-17","Statement":[]}'
    },
    'The bucket’s policy',
  ],
  [
    'a sweeper that sleeps',
    synthesis => {
      find(synthesis, 'aws:scheduler/schedule:Schedule').inputs.state = 'DISABLED'
    },
    'The schedule "rate(1 minute) DISABLED',
  ],
  [
    'a secret that is not marked',
    synthesis => {
      find(synthesis, LAMBDA, 'TickFunction').secrets = []
    },
    'TickFunction (aws:lambda/function:Function) holds SettingsKeys in environment.variables.ESPALIER_SETTINGS_KEYS, which is not marked',
  ],
  [
    'a secret in a description',
    synthesis => {
      const tick = find(synthesis, LAMBDA, 'TickFunction')
      tick.inputs.description = `It is ${SECRETS.LinkKeys}`
      tick.secrets.push('description')
    },
    'TickFunction (aws:lambda/function:Function) holds LinkKeys in description',
  ],
  [
    'a secret among the outputs',
    synthesis => {
      synthesis.outputs.key = SECRETS.SettingsKeys
    },
    'The outputs hold SettingsKeys',
  ],
  [
    'a personal stage that can’t be removed',
    synthesis => {
      one(synthesis, 'aws:s3/bucket:Bucket').inputs.forceDestroy = false
      one(synthesis, 'aws:dynamodb/table:Table').retained = true
    },
    'DataTable (aws:dynamodb/table:Table) stays when the stage is removed',
  ],
  [
    'what costs by the hour',
    synthesis => add(synthesis, 'aws:ec2/natGateway:NatGateway', {}),
    'is a aws:ec2/natGateway:NatGateway, which may cost while it is idle',
  ],
]

describe('a synthesis with a fault', () => {
  let sound: Synthesis
  beforeAll(async () => {
    sound = await synthesisOf('personal')
  })

  it('has none to begin with', () => {
    expect(problemsOf(sound)).toEqual([])
  })

  it.each(FAULTS)('is found out: %s', (_what, spoil, problem) => {
    const synthesis = structuredClone(sound)
    spoil(synthesis)
    expect(problemsOf(synthesis).join('\n')).toContain(problem)
  })
})

describe('the synth itself', () => {
  const secrets = { SettingsKeys: SECRETS.SettingsKeys, LinkKeys: SECRETS.LinkKeys }

  it('stops where it would have to guess what AWS answers, and names what was asked', async () => {
    const replaced = changeText(
      'sst.config.ts',
      'const { partition }',
      'await aws.getAvailabilityZones()\n  const { partition }',
    )
    const { errors } = await synthesize({ stage: 'ada', secrets, replaced })
    expect(errors.join('\n')).toContain(
      'The config asks AWS for aws:index/getAvailabilityZones:getAvailabilityZones',
    )
  })

  it('refuses two resources of one name, as the engine does', async () => {
    const replaced = changeText(
      'sst.config.ts',
      'const { partition }',
      `new aws.sns.Topic('Twice')\n  new aws.sns.Topic('Twice')\n  const { partition }`,
    )
    const { errors } = await synthesize({ stage: 'ada', secrets, replaced })
    expect(errors.join('\n')).toContain(
      'Two resources would both be urn:pulumi:ada::espalier::aws:sns',
    )
  })
})
