import type { ToolRegistry } from '../../lib/tool/registry.ts'

/** The tools there are: one lazy line each. */
export const tools: ToolRegistry = {
  time: () => import('./time.ts'),
  calculator: () => import('./calculator.ts'),
  read_url: () => import('./read-url.ts'),
  user_info: () => import('./user-info.ts'),
  tool_results: () => import('./tool-results.ts'),
  media: () => import('./media.ts'),
  agent: () => import('./agent.ts'),
  ask_user: () => import('./ask-user.ts'),
  sub_agent: () => import('./sub-agent.ts'),
  subagents: () => import('./subagents.ts'),
}
