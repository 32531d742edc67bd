import { beforeAll, describe, expect, it } from 'vitest'
import { problemsOf } from './all-problems.ts'
import { SECRETS } from './stages.ts'
import { changeText, wrapExport } from './synth/change.ts'
import type { Synthesis } from './synth/synthesis.ts'
import { synthesize } from './synth/synthesize.ts'

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
          'lib/deploy/narrow.ts',
          'narrowed',
          `original => (statements, actions) => [
            ...original(statements, actions),
            ...(statements.some(({ resources }) => resources.some(each => each.endsWith('tool-*')))
              ? [{ actions: ['dynamodb:*'], resources: ['arn:aws:dynamodb:::table/*'] }]
              : []),
          ]`,
        ),
        ...wrapExport(
          'lib/workflow/definition.ts',
          'definition',
          "original => functions => ({ ...original(functions), StartAt: 'Nowhere' })",
        ),
        ...changeText(
          'infra/stores.ts',
          'pointInTimeRecovery: { enabled: isProduction }',
          'pointInTimeRecovery: { enabled: !isProduction }',
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
    ['a recovery that costs', 'Point-in-time recovery is true, not false'],
    ['a machine that starts nowhere', 'The state machine is not in AWS’s language'],
  ])('is found out: %s', (_what, problem) => {
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
