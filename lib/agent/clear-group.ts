import type { Id } from '../core/ids.ts'
import * as table from '../data/table.ts'
import { clearConfigurations } from '../llm/configuration.ts'
import { listMembers, memberKey } from '../principal/group.ts'
import { layerKey } from '../settings/layer.ts'

/**
 * Takes away what belonged to a group that has ended: its settings of every tool and its LLM
 * configurations (the secrets in both), and the rows of its members. May be done again, and goes on
 * where it was left. `tools` are the names of all tools there are.
 */
export const clearGroup = async (id: Id<'group'>, tools: string[]): Promise<void> => {
  for (const tool of tools) await table.remove(layerKey(tool, id))
  await clearConfigurations(id)
  for (const { userId } of await listMembers(id)) await table.remove(memberKey(id, userId))
}
