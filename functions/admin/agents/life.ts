import * as z from 'zod'
import { clearRemains, closeRemains, deleteAgent } from '../../../lib/agent/delete-agent.ts'
import { transferAgent } from '../../../lib/agent/transfer-agent.ts'
import { updateAgent } from '../../../lib/agent/update-agent.ts'
import { managedAgent, removableAgent, transferableAgent } from '../../../lib/http/agent-access.ts'
import { AgentPatch, changesOf, TransferBody } from '../../../lib/http/agent-body.ts'
import { authorOf } from '../../../lib/http/author.ts'
import { demandPrincipal } from '../../../lib/http/demand-principal.ts'
import { endpoint, reply } from '../../../lib/http/endpoint.ts'
import { AgentView, presentAgent } from '../../../lib/http/present-agent.ts'
import { changeVersion, etagOf } from '../../../lib/http/version.ts'
import { AgentId } from '../../../lib/http/wire.ts'
import { cancelTasksOf } from '../../../lib/workflow/cancel-tasks.ts'
import { tools as registry } from '../../tools/index.ts'

const tag = 'Agents'

/** What becomes of an agent after it was made. Each asks for the version that it is meant for. */
export const lifeEndpoints = {
  updateAgent: endpoint(
    {
      method: 'PATCH',
      path: '/api/v1/agents/{id}',
      tag,
      summary: 'Change an agent',
      description:
        'What is absent stays; `null` takes away what there is. A task that runs goes on with the limits that it began with.',
      access: managedAgent,
      ifMatch: 'required',
      body: AgentPatch,
      responses: { 200: AgentView },
      errors: ['FORBIDDEN'],
    },
    async ({ context, subject, caller, params, body, version }) => {
      const changes = changesOf(body, caller)
      const agent = await changeVersion(subject, version, {
        change: current => updateAgent(current, changes, authorOf(caller)),
        read: () => managedAgent.find({ caller, params }),
      })
      context.header('etag', etagOf(agent.version))
      return reply(200, presentAgent(agent))
    },
  ),

  deleteAgent: endpoint(
    {
      method: 'DELETE',
      path: '/api/v1/agents/{id}',
      tag,
      summary: 'Delete an agent',
      description:
        'For good: its tasks are cancelled, its keys count no more, its own settings and LLM configurations go. Its media and the record of its tasks stay with its owner. Where this was cut short, asking again finishes it.',
      access: removableAgent,
      ifMatch: 'required',
      responses: { 200: z.object({ id: AgentId, deleted: z.literal(true) }) },
    },
    async ({ subject, caller, params, version }) => {
      const remains =
        'deletedAt' in subject
          ? subject
          : await changeVersion(subject, version, {
              change: current => deleteAgent(current, authorOf(caller)),
              read: () => managedAgent.find({ caller, params }),
            })
      // Secrets first: an agent may have had tasks beyond counting.
      await clearRemains(remains, Object.keys(registry))
      // What starts after this list ends by itself: no tick finds the agent any more.
      await cancelTasksOf(subject.id)
      await closeRemains(remains)
      return reply(200, { id: subject.id, deleted: true })
    },
  ),

  transferAgent: endpoint(
    {
      method: 'POST',
      path: '/api/v1/agents/{id}/transfer',
      tag,
      summary: 'Give an agent to another user or group',
      description:
        'With its tools, its own settings and its keys. The settings of its former owner hold no more, its tasks that run end, and what waits for an approval is refused. Its LLM configuration must be its own or everyone’s.',
      access: transferableAgent,
      ifMatch: 'required',
      body: TransferBody,
      responses: { 200: AgentView },
      errors: ['INVALID_STATE'],
    },
    async ({ context, subject, caller, params, body: { principal_id: to }, version }) => {
      await demandPrincipal(caller, 'transfer', to)
      const agent = await changeVersion(subject, version, {
        change: current => transferAgent(current, to, authorOf(caller)),
        read: () => transferableAgent.find({ caller, params }),
      })
      context.header('etag', etagOf(agent.version))
      return reply(200, presentAgent(agent))
    },
  ),
}
