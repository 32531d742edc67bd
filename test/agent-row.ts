import type { Agent } from '../lib/agent/agent.ts'
import { newId } from '../lib/core/ids.ts'

/** An agent as it is stored, for what needs no API around it. */
export const agent: Agent = {
  id: newId('agent'),
  principalId: newId('user'),
  name: 'Agent',
  systemPrompt: '',
  model: { provider: 'rehearsal', name: 'script' },
  maxSteps: 10,
  maxRetries: 0,
  retryAfterMinutes: 5,
  allowFollowup: true,
  toolChoice: 'auto',
  version: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
}
