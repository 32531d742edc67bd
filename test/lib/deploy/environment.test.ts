import { describe, expect, it } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'
import { type Variable, variablesOf } from '../../../lib/deploy/environment.ts'
import { PROVIDER_SECRETS } from '../../../lib/deploy/secrets.ts'
import { PROVIDERS } from '../../../lib/llm/model-reference.ts'
import { keyVariable } from '../../../lib/llm/provider.ts'

const { functions } = await routeTable()
const whoKnows = (variable: Variable) =>
  functions.filter(spec => variablesOf(spec).includes(variable)).map(({ name }) => name)

describe('the environment', () => {
  it('keeps the keys of settings from functions that open none', () => {
    const knowing = whoKnows('ESPALIER_SETTINGS_KEYS')
    for (const name of ['admin-keys', 'admin-tasks', 'admin-media', 'admin-public-media', 'park'])
      expect(knowing).not.toContain(name)
    for (const name of ['tool-time-now', 'admin-settings', 'tick']) expect(knowing).toContain(name)
  })

  it('tells only sign-in of the provider’s secret, and only the claim of its own', () => {
    expect(whoKnows('ESPALIER_OIDC_CLIENT_SECRET')).toEqual(['admin-sign-in'])
    expect(whoKnows('ESPALIER_CLAIM_SECRET')).toEqual(['admin-claim'])
  })

  it('gives the keys of links only to what makes or opens links, and to sign-in', () => {
    expect(whoKnows('ESPALIER_LINK_KEYS')).toEqual([
      'tool-media-get_public_url',
      'admin-media',
      'admin-public-media',
      'admin-sign-in',
    ])
  })

  it('tells of the state machine whoever starts or wakes executions', () => {
    expect(whoKnows('ESPALIER_STATE_MACHINE_ARN')).toEqual([
      'tool-sub_agent-sub_agent',
      'tool-sub_agent-handover',
      'tool-subagents-spawn_subagent',
      'tool-subagents-spawn_subagents',
      'tool-subagents-subagent_cancel',
      'admin-agents',
      'admin-tasks',
      'admin-approvals',
      'tick',
      'park',
      'wake',
      'sweep',
    ])
  })

  it('tells of the functions’ prefix only whoever runs operations, or has notices sent', () => {
    expect(whoKnows('ESPALIER_FUNCTION_PREFIX')).toEqual([
      'tool-sub_agent-sub_agent',
      'tool-sub_agent-handover',
      'tool-subagents-spawn_subagent',
      'tool-subagents-spawn_subagents',
      'tool-subagents-subagent_cancel',
      'admin-agents',
      'admin-subscriptions',
      'admin-tasks',
      'admin-approvals',
      'tick',
      'sweep',
    ])
  })

  it('tells who e-mails come from only whoever sends or takes addresses for them', () => {
    expect(whoKnows('ESPALIER_EMAIL_SENDER')).toEqual(['admin-subscriptions', 'notify'])
  })

  it('tells operations, what asks models and what posts to webhooks, and nothing else, which hosts inside they may reach', () => {
    const asking = ['admin-llm-configurations', 'admin-subscriptions', 'tick', 'notify']
    expect(whoKnows('ESPALIER_FETCH_ALLOW')).toEqual(
      functions
        .map(({ name }) => name)
        .filter(name => name.startsWith('tool-') || asking.includes(name)),
    )
  })

  it('tells only whoever counts strangers what the Router proves itself with', () => {
    expect(whoKnows('ESPALIER_ROUTER_SECRET')).toEqual([
      'admin-sign-in',
      'admin-invitations',
      'admin-claim',
    ])
  })

  it('tells where traces go whoever runs calls, moves tasks or tells of them, and of its key not the last', () => {
    const knowing = whoKnows('OTEL_EXPORTER_OTLP_ENDPOINT')
    const others = ['admin-tasks', 'admin-agents', 'admin-approvals']
    const workflow = ['tick', 'park', 'wake', 'sweep', 'notify']
    expect(knowing).toEqual(
      functions
        .map(({ name }) => name)
        .filter(name => name.startsWith('tool-') || [...others, ...workflow].includes(name)),
    )
    expect(whoKnows('OTEL_EXPORTER_OTLP_HEADERS')).toEqual(
      knowing.filter(name => name !== 'notify'),
    )
    expect(whoKnows('ESPALIER_LOG_LEVEL')).toHaveLength(functions.length)
  })

  it('tells of the table whoever reaches rows: all but what serves the reference', () => {
    const others = ['admin-openapi', 'admin-docs']
    expect(whoKnows('ESPALIER_TABLE')).toEqual(
      functions.map(({ name }) => name).filter(name => !others.includes(name)),
    )
  })
})

describe('the providers’ keys', () => {
  it('have a secret for each variable that a driver reads', () => {
    expect(PROVIDER_SECRETS.map(({ variable }) => variable)).toEqual(
      PROVIDERS.flatMap(provider => keyVariable(provider) ?? []),
    )
    for (const { secret } of PROVIDER_SECRETS) expect(secret).toMatch(/^([A-Z][a-z]+)+ApiKey$/)
  })

  it('reach the tick, what tests a model, and nothing else', () => {
    const asking = functions.filter(({ reach }) => reach.includes('models'))
    expect(asking.map(({ name }) => name)).toEqual(['admin-llm-configurations', 'tick'])
  })
})
