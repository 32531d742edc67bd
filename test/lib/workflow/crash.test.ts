import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type CrashWorld, cancelJob, playJob, startCrashWorld } from './crash-job.ts'
import type { Command, Fault } from './machine.ts'

// A whole job is played once for each command that any of its functions sends, and each time
// that command is where a process dies, or where an answer is lost.

let world: CrashWorld
let commands: Command[]

beforeAll(async () => {
  world = await startCrashWorld()
  commands = (await playJob(world)).commands
})
afterAll(async () => {
  vi.useRealTimers()
  await world.world.stop()
})

/** Deaths are tried at every place; the rest once for commands that stand alike in their runs. */
const isNew = (seen: Set<string>, how: Fault['how'], { role, name, nth }: Command): boolean => {
  const place = `${role} ${name} ${how === 'killed after' ? seen.size : nth}`
  if (seen.has(place)) return false
  seen.add(place)
  return true
}

const isRead = ({ name }: Command) => /^(Get|BatchGet|Query|Describe)/.test(name)

// A death leaves the same behind before and after a read, and before a command and after the one
// before it; but an operation has an effect in between that is no command.
const FAULTS: Record<Fault['how'], (command: Command) => boolean> = {
  'killed after': command => !isRead(command),
  'killed before': ({ nth, role }) => nth === 0 || role.startsWith('tools/'),
  'answer lost': command => !isRead(command),
}

it.each(Object.keys(FAULTS) as Fault['how'][])(
  'a job ends as promised where one command is %s',
  { timeout: 120_000 },
  async how => {
    const failures: string[] = []
    const settled: string[] = []
    const seen = new Set<string>()
    for (const [at, command] of commands.entries())
      if (FAULTS[how](command) && isNew(seen, how, command))
        await playJob(world, { at, how })
          .then(played => played.settled && settled.push(`${command.role} ${command.name}`))
          .catch(error => failures.push(`${at} ${command.role} ${command.name}: ${error}`))
    expect(failures).toEqual([])
    // Between the start of what may run once and its result, a death leaves a question.
    expect(settled).toEqual(['tools/probe UpdateItemCommand'])
  },
)

it('a job ends as promised where every command is sent twice', async () => {
  await playJob(world, undefined, { twice: true })
})

it('a job that is cancelled is cancelled for good, wherever its cancelling dies', async () => {
  const { commands } = await cancelJob(world)
  for (const [at, command] of commands.entries())
    if (!isRead(command)) await cancelJob(world, { at, how: 'killed after' })
})
