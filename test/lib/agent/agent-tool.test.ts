import { expect, test } from 'vitest'
import * as z from 'zod'
import {
  agentToolKey,
  agentToolOf,
  changeAgentTool,
  effectiveOperation,
  listAgentTools,
  type OperationChanges,
} from '../../../lib/agent/agent-tool.ts'
import { createAgent } from '../../../lib/agent/create-agent.ts'
import { type Author, listAudit } from '../../../lib/audit/audit.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { agent as row } from '../../agent-row.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'

useLocalTable()

/** An agent that is there to have tools. */
const makeAgent = async (): Promise<Id<'agent'>> => {
  const agent = { ...row, id: newId('agent') }
  await createAgent(agent, author)
  return agent.id
}
const { principalId } = row
const setEnabled = (id: Id<'agent'>, tool: string, enabled: boolean, by: Author = author) =>
  changeAgentTool({ id, principalId }, tool, { enabled }, by)
const overrideOperation = (
  id: Id<'agent'>,
  tool: string,
  operation: string,
  override: OperationChanges,
) => changeAgentTool({ id, principalId }, tool, { operations: { [operation]: override } }, author)

const author = { by: 'user_1', clock: clockAt('2026-01-01T00:00:00.000Z') }
const read = async (agentId: ReturnType<typeof newId<'agent'>>, tool: string) =>
  agentToolOf(await table.batchGet([agentToolKey(agentId, tool)]), agentId, tool)

test('a tool that nobody touched is not there, and one that was overridden is not enabled', async () => {
  const agent = await makeAgent()
  expect(await read(agent, 'mail')).toBeUndefined()
  await overrideOperation(agent, 'mail', 'send', { requiresApproval: true })
  expect(await read(agent, 'mail')).toMatchObject({
    enabled: false,
    operations: { send: { requiresApproval: true } },
  })
})

test('disabling and enabling again keeps the overrides', async () => {
  const agent = await makeAgent()
  await overrideOperation(agent, 'mail', 'send', { enabled: false })
  await setEnabled(agent, 'mail', true)
  await setEnabled(agent, 'mail', false)
  await setEnabled(agent, 'mail', true, { ...author, by: 'user_2' })
  expect(await read(agent, 'mail')).toEqual({
    agentId: agent,
    tool: 'mail',
    enabled: true,
    operations: { send: { enabled: false } },
    updatedAt: '2026-01-01T00:00:00.000Z',
    updatedBy: 'user_2',
  })
})

test('null lifts an override, and what is absent stays', async () => {
  const agent = await makeAgent()
  const both = { enabled: false, requiresApproval: false }
  await overrideOperation(agent, 'mail', 'send', both)
  await overrideOperation(agent, 'mail', 'send', { enabled: null })
  expect((await read(agent, 'mail'))?.operations).toEqual({ send: { requiresApproval: false } })
})

test('writes of two operators to different operations do not undo each other', async () => {
  const agent = await makeAgent()
  const names = ['a', 'b', 'c', 'd', 'e']
  await Promise.all([
    setEnabled(agent, 'mail', true),
    ...names.map(name => overrideOperation(agent, 'mail', name, { enabled: false })),
  ])
  const tool = await read(agent, 'mail')
  expect(tool?.enabled).toBe(true)
  expect(Object.keys(tool?.operations ?? {}).sort()).toEqual(names)
})

test('an agent’s tools are listed, and no other agent’s', async () => {
  const [agent, other] = [await makeAgent(), await makeAgent()]
  await setEnabled(agent, 'mail', true)
  await setEnabled(agent, 'time', false)
  await setEnabled(other, 'media', true)
  expect((await listAgentTools(agent)).map(({ tool }) => tool)).toEqual(['mail', 'time'])
})

test.each([
  [{}, { enabled: false, requiresApproval: true }],
  [{ enabled: true }, { enabled: true, requiresApproval: true }],
  [{ requiresApproval: false }, { enabled: false, requiresApproval: false }],
  [
    { enabled: true, requiresApproval: false },
    { enabled: true, requiresApproval: false },
  ],
])('with the override %j an operation is %j', (override, effective) => {
  const { operations } = defineTool({
    name: 'mail',
    description: 'x',
    operations: {
      send: {
        description: 'x',
        enabledByDefault: false,
        requiresApprovalByDefault: true,
        parameters: z.object({}),
        describe: () => 'x',
        execute: () => 'x',
      },
    },
  })
  expect(operations.send && effectiveOperation(operations.send, override)).toMatchObject(effective)
})

test('a change is told in the log as it was and as it is, and what is so already is none', async () => {
  const agent = await makeAgent()
  await setEnabled(agent, 'mail', true)
  await setEnabled(agent, 'mail', true)
  await overrideOperation(agent, 'mail', 'send', { requiresApproval: true, enabled: false })
  await overrideOperation(agent, 'mail', 'send', { requiresApproval: null, enabled: false })
  const { items } = await listAudit(principalId, { limit: 100 })
  const entries = items.filter(({ target, action }) => target === agent && /tool/.test(action))
  expect(entries.map(({ field, from, to }) => ({ field, from, to }))).toEqual(
    expect.arrayContaining([
      { field: 'mail', from: { enabled: null }, to: { enabled: true } },
      {
        field: 'mail',
        from: { 'send.enabled': null, 'send.requires_approval': null },
        to: { 'send.enabled': false, 'send.requires_approval': true },
      },
      {
        field: 'mail',
        from: { 'send.requires_approval': true },
        to: { 'send.requires_approval': null },
      },
    ]),
  )
  expect(entries).toHaveLength(3)
})

test('an agent that is gone gets no tools', async () => {
  const agent = newId('agent')
  await expect(setEnabled(agent, 'mail', true)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await read(agent, 'mail')).toBeUndefined()
})
