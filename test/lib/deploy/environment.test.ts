import { describe, expect, it } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'
import { type Variable, variablesOf } from '../../../lib/deploy/environment.ts'
import { PROVIDER_SECRETS } from '../../../lib/deploy/secrets.ts'
import { keyVariable, PROVIDERS } from '../../../lib/llm/provider.ts'

const { functions } = await routeTable()
const whoKnows = (variable: Variable) =>
  functions.filter(spec => variablesOf(spec).includes(variable)).map(({ name }) => name)

describe('the environment', () => {
  it('keeps the master keys from functions that open no setting and make no link', () => {
    const knowing = whoKnows('ESPALIER_MASTER_KEYS')
    for (const name of ['admin-keys', 'admin-tasks', 'admin-tools', 'park', 'sweep'])
      expect(knowing).not.toContain(name)
    for (const name of ['tool-time-now', 'admin-settings', 'admin-public-media', 'tick'])
      expect(knowing).toContain(name)
  })

  it('tells of the state machine whoever starts or wakes executions', () => {
    expect(whoKnows('ESPALIER_STATE_MACHINE_ARN')).toEqual([
      'tool-sub_agent-sub_agent',
      'tool-sub_agent-handover',
      'admin-tasks',
      'admin-approvals',
      'tick',
      'park',
      'sweep',
    ])
  })

  it('tells of the functions’ prefix only whoever runs operations', () => {
    expect(whoKnows('ESPALIER_FUNCTION_PREFIX')).toEqual(['admin-approvals', 'tick'])
  })

  it('tells every function of the table', () => {
    expect(whoKnows('ESPALIER_TABLE')).toHaveLength(functions.length)
  })
})

describe('the providers’ keys', () => {
  it('have a secret for each variable that a driver reads', () => {
    expect(PROVIDER_SECRETS.map(({ variable }) => variable)).toEqual(
      PROVIDERS.flatMap(provider => keyVariable(provider) ?? []),
    )
    for (const { secret } of PROVIDER_SECRETS) expect(secret).toMatch(/^([A-Z][a-z]+)+ApiKey$/)
  })

  it('reach the tick and nothing else', () => {
    const asking = functions.filter(({ reach }) => reach.includes('models'))
    expect(asking.map(({ name }) => name)).toEqual(['tick'])
  })
})
