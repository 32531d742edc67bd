import { afterAll, beforeAll } from 'vitest'
import type { Id } from '../lib/core/ids.ts'
import type { Tool } from '../lib/tool/define.ts'
import { startWorld, type World } from './world.ts'

/** The world of this file's tests, from the first `beforeAll` after `useWorld` on. */
export let world: World

/** The agent that `useAgent` has made. */
export let agent: Id<'agent'>

/** Starts a world for a file's tests, with these tools beside the real ones, and stops it. */
export const useWorld = (own: Tool[] = []): void => {
  beforeAll(async () => {
    world = await startWorld(own)
  })
  afterAll(() => world.stop())
}

/** A world with one agent in it, which has these tools enabled. */
export const useAgent = (enabled: string[], own: Tool[] = []): void => {
  useWorld(own)
  beforeAll(async () => {
    agent = await world.createAgent(enabled)
  })
}
