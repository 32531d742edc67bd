import { expect, test } from 'vitest'
import * as z from 'zod'
import {
  agentToolKey,
  agentToolOf,
  effectiveOperation,
  listAgentTools,
  overrideOperation,
  setEnabled,
} from '../../../lib/agent/agent-tool.ts'
import { newId } from '../../../lib/core/ids.ts'
import * as table from '../../../lib/data/table.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { clockAt, useLocalTable } from '../../local-table.ts'

useLocalTable()

const author = { by: 'user_1', clock: clockAt('2026-01-01T00:00:00.000Z') }
const read = async (agentId: ReturnType<typeof newId<'agent'>>, tool: string) =>
  agentToolOf(await table.batchGet([agentToolKey(agentId, tool)]), agentId, tool)

test('a tool that nobody touched is not there, and one that was overridden is not enabled', async () => {
  const agent = newId('agent')
  expect(await read(agent, 'mail')).toBeUndefined()
  await overrideOperation(agent, 'mail', 'send', { requiresApproval: true }, author)
  expect(await read(agent, 'mail')).toMatchObject({
    enabled: false,
    operations: { send: { requiresApproval: true } },
  })
})

test('disabling and enabling again keeps the overrides', async () => {
  const agent = newId('agent')
  await overrideOperation(agent, 'mail', 'send', { enabled: false }, author)
  await setEnabled(agent, 'mail', true, author)
  await setEnabled(agent, 'mail', false, author)
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
  const agent = newId('agent')
  const both = { enabled: false, requiresApproval: false }
  await overrideOperation(agent, 'mail', 'send', both, author)
  await overrideOperation(agent, 'mail', 'send', { enabled: null }, author)
  expect((await read(agent, 'mail'))?.operations).toEqual({ send: { requiresApproval: false } })
})

test('writes of two operators to different operations do not undo each other', async () => {
  const agent = newId('agent')
  const names = ['a', 'b', 'c', 'd', 'e']
  await Promise.all([
    setEnabled(agent, 'mail', true, author),
    ...names.map(name => overrideOperation(agent, 'mail', name, { enabled: false }, author)),
  ])
  const tool = await read(agent, 'mail')
  expect(tool?.enabled).toBe(true)
  expect(Object.keys(tool?.operations ?? {}).sort()).toEqual(names)
})

test('an agent’s tools are listed, and no other agent’s', async () => {
  const [agent, other] = [newId('agent'), newId('agent')]
  await setEnabled(agent, 'mail', true, author)
  await setEnabled(agent, 'time', false, author)
  await setEnabled(other, 'media', true, author)
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
  expect(operations.send && effectiveOperation(operations.send, override)).toEqual(effective)
})
