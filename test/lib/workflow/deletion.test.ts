import { isDeepStrictEqual } from 'node:util'
import { BatchWriteItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { config } from '../../../lib/core/config.ts'
import { type Id, newId } from '../../../lib/core/ids.ts'
import { MAX_INLINE_BYTES } from '../../../lib/data/large.ts'
import { findTaskRemains } from '../../../lib/task/remains.ts'
import { getTasks } from '../../../lib/task/task.ts'
import { defineTool } from '../../../lib/tool/define.ts'
import { clearTree, type IsOver, LATE_MS } from '../../../lib/workflow/clear-tree.ts'
import { deleteTask } from '../../../lib/workflow/delete-task.ts'
import { finishDeletions } from '../../../lib/workflow/finish-deletions.ts'
import { ask } from '../../probe.ts'
import { dynamodb, s3 } from '../../sdk.ts'
import { snapshot, startWorld, type World } from '../../world.ts'
import { type Command, createMachine } from './machine.ts'

// One tree is deleted again and again, and each time another command is where the process dies. What
// was deleted is then put back as it was.

const probe = defineTool({
  name: 'probe',
  description: 'Asks first, or not.',
  operations: {
    ask,
    long: {
      description: 'Says a lot.',
      parameters: z.object({ text: z.string() }),
      effect: 'read',
      describe: () => 'Say',
      execute: async ({ parameters: { text } }) => text,
    },
  },
})

const machine = createMachine()
let world: World
let root: Id<'task'>
let before: Record<string, unknown>
let saved: Awaited<ReturnType<typeof save>>

/** A root that has handed over, a child that waits for a person, and long texts in each. */
beforeAll(async () => {
  world = await startWorld([probe], { wrap: machine.wrap })
  machine.install()
  const helper = await world.createAgent(['probe'])
  const boss = await world.createAgent(['probe', 'sub_agent', 'subagents'])
  for (const tool of ['sub_agent', 'subagents'])
    await world.setSettings(boss, tool, { allowed_target_agents: [helper] })
  for (const operation of ['sub_agent.handover', 'subagents.spawn_subagents'])
    await world.override(boss, operation, { requires_approval: false })
  before = await snapshot()
  const text = 'a'.repeat(MAX_INLINE_BYTES)
  const say = `/probe long ${JSON.stringify({ text })}`
  const to = (prompt: string) => ({ target_agent_id: helper, prompt })
  const spawning = { subagents: [to('/probe ask {}'), to('Hello')], wait: false, attention: false }
  machine.begin(undefined)
  root = await world.createTask(
    boss,
    `/subagents spawn_subagents ${JSON.stringify(spawning)}`,
    '',
    `/sub_agent handover ${JSON.stringify(to(say))}`,
  )
  await machine.settle()
  const [task] = await getTasks([root])
  expect(task).toMatchObject({ status: 'COMPLETED', handoverTo: expect.any(String) })
  expect(await world.approvals()).toHaveLength(1)
  saved = await save()
})
afterAll(async () => {
  vi.useRealTimers()
  await world.stop()
})
beforeEach(() => putBack())

/** Asks for the deletion as the endpoint does; whether there was something left to ask for. */
const remove = async (isOver?: IsOver): Promise<boolean> => {
  const [task] = await getTasks([root])
  const subject = task ?? (await findTaskRemains(root))
  if (!subject) return true
  const remains =
    'deletedAt' in subject ? subject : await deleteTask(subject, { by: newId('user') })
  return clearTree(remains, isOver ? { isOver } : {})
}

const late = { now: () => new Date(Date.now() + 2 * LATE_MS) }

const isGone = async (): Promise<void> => {
  const left = Object.keys(await snapshot()).filter(
    key => !(key in before) && !key.startsWith('rate#'),
  )
  const log = left.filter(key => key.startsWith('audit#'))
  expect(log).toHaveLength(1)
  expect(left.filter(key => !log.includes(key))).toEqual([`${root} / remains`])
}

/** A death before a write leaves what one after the write before it does; a token is sent to nobody. */
const isRead = ({ name }: Command) => /^(Get|BatchGet|Query|List|SendTask)/.test(name)

it('is finished by whoever asks again, wherever it has died', { timeout: 300_000 }, async () => {
  machine.expect(undefined)
  await machine.alive('delete', () => remove())
  const commands = [...machine.commands]
  expect(commands.filter(command => !isRead(command)).length).toBeGreaterThan(30)
  const failures: string[] = []
  for (const [at, command] of commands.entries()) {
    if (isRead(command)) continue
    await putBack()
    machine.expect({ at, how: 'killed after' })
    const died = machine.alive('delete', () => remove())
    const hasLivedOn = await died.then(
      () => true,
      () => false,
    )
    // What goes side by side comes in another order each time: here may be what nobody dies at.
    const met = machine.commands[at]
    if (hasLivedOn && met && !isRead(met)) failures.push(`${at} ${met.name}: lived on`)
    machine.expect(undefined)
    await remove()
      .then(() => finishDeletions(late))
      .then(isGone)
      .catch(error => failures.push(`${at} ${command.name}: ${error}`))
  }
  expect(failures).toEqual([])
})

it('is finished by the sweeper where nobody asks again', { timeout: 300_000 }, async () => {
  for (let looks = 0; ; looks++) {
    await putBack()
    let left = looks
    const isDone = await remove(() => left-- <= 0)
    if (isDone) return expect(looks).toBeGreaterThan(5)
    await finishDeletions({ now: () => new Date(Date.now() + 2 * 60_000) })
    await finishDeletions(late)
    await isGone()
  }
})

it('is the same where every command is sent twice, or several ask at once', async () => {
  machine.expect(undefined, { twice: true })
  expect(await machine.alive('delete', () => remove())).toBe(true)
  await finishDeletions(late)
  await isGone()
  await putBack()
  machine.expect(undefined)
  await Promise.all([remove(), remove(), remove()])
  await finishDeletions(late)
  await isGone()
})

type Item = Awaited<ReturnType<typeof save>>['items'][number]

/** All that is stored, to the byte. */
const save = async () => {
  const { Items: items = [] } = await dynamodb().send(
    new ScanCommand({ TableName: config('table') }),
  )
  const Bucket = config('bucket')
  const { Contents = [] } = await s3().send(new ListObjectsV2Command({ Bucket }))
  const objects = await Promise.all(
    Contents.map(async ({ Key = '' }) => {
      const { Body } = await s3().send(new GetObjectCommand({ Bucket, Key }))
      return { Bucket, Key, Body: (await Body?.transformToByteArray()) ?? new Uint8Array() }
    }),
  )
  return { items, objects }
}

/** Makes everything what it was, and takes away what is new. */
const putBack = async (): Promise<void> => {
  const now = await save()
  const keyOf = ({ pk, sk }: Item) => ({ pk, sk }) as Item
  const nameOf = (item: Item) => JSON.stringify(keyOf(item))
  const known = new Set(saved.items.map(nameOf))
  const unchanged = new Map(now.items.map(item => [nameOf(item), item]))
  const writes = [
    ...saved.items
      .filter(item => !isDeepStrictEqual(unchanged.get(nameOf(item)), item))
      .map(Item => ({ PutRequest: { Item } })),
    ...now.items
      .filter(item => !known.has(nameOf(item)))
      .map(item => ({ DeleteRequest: { Key: keyOf(item) } })),
  ]
  for (let from = 0; from < writes.length; from += 25)
    await dynamodb().send(
      new BatchWriteItemCommand({
        RequestItems: { [config('table')]: writes.slice(from, from + 25) },
      }),
    )
  const keys = new Set(now.objects.map(({ Key }) => Key))
  for (const object of saved.objects)
    if (!keys.has(object.Key)) await s3().send(new PutObjectCommand(object))
}
