import { describe, expect, it } from 'vitest'
import { routeTable } from '../../../functions/routes.ts'
import { agentKey } from '../../../lib/agent/agent.ts'
import { decisionKey } from '../../../lib/call/decision.ts'
import { callKey } from '../../../lib/call/tool-call.ts'
import { newId } from '../../../lib/core/ids.ts'
import { dueShard } from '../../../lib/data/due.ts'
import { permissionsOf } from '../../../lib/deploy/permissions.ts'
import type { FunctionSpec } from '../../../lib/http/route-table.ts'
import { NOTIFY_FUNCTION } from '../../../lib/notification/announce.ts'
import { keyKey } from '../../../lib/principal/key.ts'
import { principalKey } from '../../../lib/principal/principal.ts'
import { seenKey, sessionKey } from '../../../lib/principal/session.ts'
import { layerKey } from '../../../lib/settings/layer.ts'
import { ledgerKey } from '../../../lib/task/ledger.ts'
import { markerKey } from '../../../lib/task/open-children.ts'
import { taskIndexes, taskKey } from '../../../lib/task/task.ts'
import { type Access, allows, targetsOf } from './iam.ts'

/** IAM's limit of all inline policies of a role, in characters without white space. */
const MAX_INLINE_POLICY_CHARS = 10_240

const { functions } = await routeTable()
const operations = functions.filter(({ tool }) => tool !== undefined)
/** All but those that build agents, and so look into what other tools need. */
const ordinary = operations.filter(({ tool }) => tool !== 'agent')
const named = (name: string): FunctionSpec => {
  const spec = functions.find(candidate => candidate.name === name)
  if (!spec) throw new Error(`There is no function ${name}.`)
  return spec
}

const statementsOf = (spec: FunctionSpec) => permissionsOf(spec, targetsOf(spec.name))
const may = (spec: FunctionSpec, access: Access) => allows(statementsOf(spec), access)
const whoMay = (access: Access) =>
  functions.filter(spec => may(spec, access)).map(spec => spec.name)

const { table, bucket, functions: prefix } = targetsOf('')
const rows = (action: string, ...keys: { pk: string }[]): Access => ({
  action: `dynamodb:${action}`,
  resource: table,
  keys: keys.map(({ pk }) => pk),
})
const list = (index: string, key: string): Access => ({
  action: 'dynamodb:Query',
  resource: `${table}/index/${index}`,
  keys: [key],
})
const object = (action: string, key: string): Access => ({
  action: `s3:${action}`,
  resource: `${bucket}/${key}`,
})

const [user, agent, call, task] = [newId('user'), newId('agent'), newId('call'), newId('task')]
const WRITES = ['PutItem', 'UpdateItem', 'DeleteItem']
const AGENT_BUILDERS = [
  'tool-agent-create_agent',
  'tool-agent-configure_tools',
  'tool-agent-update_agent',
]
const DIGEST = 'a'.repeat(64)

describe('every function', () => {
  it.each(functions)('$name is allowed actions by name, and few enough for one policy', spec => {
    const statements = statementsOf(spec)
    for (const action of statements.flatMap(({ actions }) => actions))
      expect(action).toMatch(/^[a-z0-9]+:[A-Za-z]+$/)
    expect(JSON.stringify(statements).length).toBeLessThan(MAX_INLINE_POLICY_CHARS / 2)
  })

  it.each(functions)('$name is limited to resources by name or by how they begin', spec => {
    // The one action for which AWS names no resource.
    for (const { actions, resources } of statementsOf(spec))
      if (!actions.includes('states:SendTaskSuccess'))
        for (const resource of resources) expect(resource).toMatch(/^arn:aws:[a-z0-9]+:[^*]+\*?$/)
  })

  it.each(functions)('$name reaches rows and lists by their leading keys only', spec => {
    for (const { actions, conditions } of statementsOf(spec))
      if (actions.some(action => action.startsWith('dynamodb:')))
        expect(conditions?.flatMap(({ values }) => values)).not.toContain('*')
  })

  it.each(functions)('$name writes to its own log and to no other', spec => {
    const streams = (name: string) => `${targetsOf(name).logGroup}:log-stream:2026`
    expect(may(spec, { action: 'logs:PutLogEvents', resource: streams(spec.name) })).toBe(true)
    expect(may(spec, { action: 'logs:PutLogEvents', resource: streams('another') })).toBe(false)
  })
})

describe('an operation', () => {
  it.each(operations)('$name reads all that the gate needs in one batch', spec => {
    const gate = [
      keyKey(newId('key')),
      principalKey(user),
      agentKey(agent),
      layerKey(spec.tool ?? '', user),
      decisionKey(call, DIGEST),
    ]
    expect(may(spec, rows('BatchGetItem', ...gate))).toBe(true)
  })

  it.each(ordinary)("$name reads its own tool's settings and no other's", spec => {
    const others = new Set(
      operations.flatMap(({ tool }) => (tool && tool !== spec.tool ? tool : [])),
    )
    for (const tool of others) {
      expect(may(spec, rows('GetItem', layerKey(tool, user)))).toBe(false)
      expect(
        may(spec, rows('BatchGetItem', layerKey(spec.tool ?? '', user), layerKey(tool, user))),
      ).toBe(false)
    }
  })

  it.each(operations)('$name changes no decision, key or user', spec => {
    for (const action of WRITES)
      for (const key of [decisionKey(call, DIGEST), keyKey(newId('key')), principalKey(user)])
        expect(may(spec, rows(action, key))).toBe(false)
  })

  it.each(ordinary)('$name changes no agent, group or setting', spec => {
    const forbidden = [
      agentKey(agent),
      principalKey(newId('group')),
      layerKey(spec.tool ?? '', user),
    ]
    for (const action of WRITES)
      for (const key of forbidden) expect(may(spec, rows(action, key))).toBe(false)
  })

  it.each(operations)('$name keeps its calls and their long results', spec => {
    for (const action of ['GetItem', 'PutItem', 'UpdateItem'])
      expect(may(spec, rows(action, callKey(call)))).toBe(true)
    expect(may(spec, object('PutObject', `results/${call}`))).toBe(true)
    expect(may(spec, object('PutObject', `large/${call}/result`))).toBe(true)
    expect(may(spec, object('GetObject', `results/${call}`))).toBe(spec.reach.includes('results'))
  })

  it('touches no task, no media and no workflow unless it says so', () => {
    const spec = named('tool-calculator-calculate')
    for (const action of [...WRITES, 'GetItem', 'Query'])
      for (const key of [taskKey(task), ledgerKey(task), markerKey(task, call, task)])
        expect(may(spec, rows(action, key))).toBe(false)
    expect(may(spec, rows('GetItem', { pk: newId('media') }))).toBe(false)
    expect(may(spec, object('GetObject', `media/${user}/${newId('media')}`))).toBe(false)
    expect(
      statementsOf(spec).flatMap(({ actions }) =>
        actions.filter(action => /^(states|lambda):/.test(action)),
      ),
    ).toEqual([])
  })
})

describe('only', () => {
  it('the approvals write decisions, and list what waits', () => {
    const decision = decisionKey(call, DIGEST)
    expect(whoMay(rows('PutItem', decision))).toEqual(['admin-approvals'])
    expect(whoMay(rows('UpdateItem', decision))).toEqual([])
    expect(whoMay(list('gsi2', user))).toEqual(['admin-approvals'])
  })

  it('the teller of notices sends e-mails, from one address alone, and posts with sealed secrets', () => {
    const { identities, emailSender } = targetsOf('')
    const sends = functions.flatMap(spec =>
      statementsOf(spec).flatMap(({ actions, resources, conditions }) =>
        actions.includes('ses:SendEmail')
          ? { name: spec.name, actions, resources, conditions }
          : [],
      ),
    )
    expect(sends).toEqual([
      {
        name: NOTIFY_FUNCTION,
        actions: ['ses:SendEmail'],
        resources: [identities + emailSender, `${identities}mail.example.org`],
        conditions: [{ test: 'StringEquals', variable: 'ses:FromAddress', values: [emailSender] }],
      },
    ])
    const none = permissionsOf(named(NOTIFY_FUNCTION), { ...targetsOf(''), emailSender: '' })
    expect(none.flatMap(({ actions }) => actions)).not.toContain('ses:SendEmail')
    const subscription = { pk: newId('subscription') }
    for (const action of ['GetItem', 'UpdateItem'])
      expect(whoMay(rows(action, subscription))).toEqual(['admin-subscriptions', NOTIFY_FUNCTION])
    expect(whoMay(rows('PutItem', subscription))).toEqual(['admin-subscriptions'])
  })

  it('whoever may write calls records notices, and changes none; who listens is changed where it is said', () => {
    const delivery = { pk: newId('delivery') }
    const listeners = { pk: `listeners#${user}` }
    const calling = whoMay(rows('PutItem', callKey(call)))
    for (const access of [rows('PutItem', delivery), rows('GetItem', listeners)])
      expect(whoMay(access)).toEqual(expect.arrayContaining(calling))
    expect(whoMay(rows('UpdateItem', delivery))).toEqual(['sweep', NOTIFY_FUNCTION])
    expect(whoMay(rows('DeleteItem', delivery))).toEqual([])
    expect(whoMay(rows('UpdateItem', listeners))).toEqual(['admin-subscriptions', NOTIFY_FUNCTION])
    expect(whoMay(list('gsi3', dueShard(0, 'unsent')))).toEqual(['sweep'])
  })

  it('their administration changes agents, keys and settings', () => {
    for (const action of ['PutItem', 'UpdateItem']) {
      // Agents that build agents do so by a tool of their own.
      expect(whoMay(rows(action, agentKey(agent)))).toEqual([
        ...AGENT_BUILDERS,
        'admin-agents',
        'admin-agent-templates',
      ])
    }
    const key = keyKey(newId('key'))
    expect(whoMay(rows('UpdateItem', key))).toEqual(['admin-agents', 'admin-keys'])
    // Whoever has just come in gets a first key.
    const makers = ['admin-agents', 'admin-keys', 'admin-invitations', 'admin-claim']
    expect(whoMay(rows('PutItem', key))).toEqual(makers)
    expect(whoMay(rows('UpdateItem', layerKey('time', 'global')))).toEqual([
      'tool-agent-create_agent',
      'tool-agent-configure_tools',
      'tool-agent-update_agent',
      'admin-settings',
      'admin-agent-templates',
    ])
  })

  it('signing in makes sessions and says who is whom; sessions are ended where they are listed', () => {
    const session = sessionKey(newId('session'))
    const identity = { pk: 'identity#a' }
    for (const key of [session, identity])
      expect(whoMay(rows('PutItem', key))).toEqual(['admin-sign-in'])
    expect(whoMay(rows('UpdateItem', session))).toEqual(['admin-sessions'])
    expect(whoMay(rows('GetItem', identity))).toEqual(['admin-sign-in'])
    for (const action of ['UpdateItem', 'DeleteItem'])
      expect(whoMay(rows(action, identity))).toEqual([])
    for (const spec of operations)
      expect(may(spec, rows('UpdateItem', seenKey(newId('session'))))).toBe(false)
  })

  it('the claim keeps that its secret was used, and nobody changes it', () => {
    const claim = { pk: 'claim#a' }
    expect(whoMay(rows('PutItem', claim))).toEqual(['admin-claim'])
    for (const action of ['UpdateItem', 'DeleteItem'])
      expect(whoMay(rows(action, claim))).toEqual([])
  })

  it('nobody changes or removes an entry of an audit log', () => {
    for (const owner of ['instance', user, newId('group')])
      for (const action of ['UpdateItem', 'DeleteItem'])
        expect(whoMay(rows(action, { pk: `audit#${owner}` }))).toEqual([])
    expect(whoMay(rows('PutItem', { pk: `audit#${user}` }))).toContain('admin-settings')
  })

  it('whoever decides, ticks or sweeps runs operations, and nothing else runs by name', () => {
    const invoke = (name: string) => ({ action: 'lambda:InvokeFunction', resource: prefix + name })
    expect(whoMay(invoke('tool-time-now'))).toEqual(['admin-approvals', 'tick', 'sweep'])
    expect(whoMay(invoke('admin-keys'))).toEqual([])
    const telling = [
      'tool-sub_agent-sub_agent',
      'tool-sub_agent-handover',
      'tool-subagents-spawn_subagent',
      'tool-subagents-spawn_subagents',
      'tool-subagents-subagent_cancel',
      'admin-agents',
      'admin-subscriptions',
      'admin-tasks',
      'tick',
      'sweep',
    ]
    expect(whoMay(invoke(NOTIFY_FUNCTION))).toEqual(telling)
  })

  it('the sweeper lists what is due, and the tasks’ own endpoints everyone’s', () => {
    const { gsi1pk, gsi2pk } = taskIndexes({
      id: task,
      principalId: user,
      agentId: agent,
      createdAt: '2026-01-01T00:00:00.000Z',
    })
    expect(whoMay(list('gsi3', dueShard(0)))).toEqual(['sweep'])
    // The tasks of an agent that is deleted are cancelled.
    expect(whoMay(list('gsi1', gsi1pk))).toEqual(['admin-agents', 'admin-tasks'])
    expect(whoMay(list('gsi2', gsi2pk))).toEqual(['admin-agents', 'admin-tasks'])
  })

  it('the tasks’ own endpoints and the sweeper remove tasks, with all that is kept of them', () => {
    const removers = ['admin-tasks', 'sweep']
    const keys = [taskKey(task), callKey(call), decisionKey(call, DIGEST), ledgerKey(task)]
    for (const key of keys) expect(whoMay(rows('DeleteItem', key))).toEqual(removers)
    for (const prefix of [`large/${task}/`, `large/${call}/`, `results/${call}/`]) {
      expect(whoMay(object('DeleteObject', `${prefix}a`))).toEqual(removers)
      expect(whoMay({ action: 's3:ListBucket', resource: bucket, prefix })).toEqual(removers)
    }
    for (const prefix of ['', 'large/', `media/${user}/`])
      expect(whoMay({ action: 's3:ListBucket', resource: bucket, prefix })).toEqual([])
    expect(whoMay(object('DeleteObject', `media/${user}/${newId('media')}`))).toEqual([])
  })

  it('what streams a task reads it, changes nothing of it, and takes and leaves seats alone', () => {
    const stream = named('admin-task-stream')
    const seat = { pk: `watchers#${task}`, sk: 'seat#000' }
    for (const key of [taskKey(task), callKey(call)]) {
      expect(may(stream, rows('BatchGetItem', key))).toBe(true)
      for (const action of WRITES) expect(may(stream, rows(action, key))).toBe(false)
    }
    expect(may(stream, object('GetObject', `large/${task}/a`))).toBe(true)
    expect(may(stream, object('PutObject', `large/${task}/a`))).toBe(false)
    expect(whoMay(rows('UpdateItem', seat))).toEqual(['admin-task-stream'])
  })

  it('what has an end is ever removed: agents, groups and tasks with what is theirs, and who waits for what', () => {
    const removable = functions.flatMap(spec =>
      statementsOf(spec)
        .filter(({ actions }) => actions.includes('dynamodb:DeleteItem'))
        .flatMap(({ conditions = [] }) => conditions.flatMap(({ values }) => values)),
    )
    expect([...new Set(removable)].sort()).toEqual([
      'agent_*',
      'call_*',
      'decision#call_*',
      'group_*',
      'ledger#task_*',
      'listeners#*',
      'llm_*',
      'notes#agent_*',
      'open#task_*',
      'settings#*',
      'slots#agent_*',
      'subscription_*',
      'task_*',
      'waiters#task_*',
      'watchers#*',
      'watchers#task_*',
    ])
  })

  it('its own administration makes, changes and ends groups, and makes users', () => {
    const group = principalKey(newId('group'))
    for (const action of ['PutItem', 'DeleteItem'])
      expect(whoMay(rows(action, group))).toContain('admin-groups')
    expect(whoMay(rows('DeleteItem', group))).toEqual(['admin-groups'])
    expect(whoMay(rows('DeleteItem', principalKey(user)))).toEqual([])
    for (const name of ['admin-groups', 'admin-keys', 'admin-agents', 'tick', 'admin-tasks'])
      for (const action of WRITES)
        expect(may(named(name), rows(action, principalKey(user)))).toBe(false)
  })
})

it('lets whoever opens a public link read media, and do nothing else', () => {
  const actions = statementsOf(named('admin-public-media')).flatMap(statement => statement.actions)
  expect(actions.filter(action => !action.startsWith('logs:')).sort()).toEqual([
    'dynamodb:BatchGetItem',
    'dynamodb:GetItem',
    's3:GetObject',
  ])
})
