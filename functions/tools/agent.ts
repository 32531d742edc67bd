import * as z from 'zod'
import {
  MAX_DESCRIPTION_CHARS,
  MAX_MAX_RETRIES,
  MAX_MAX_STEPS,
  MAX_NAME_CHARS,
  MAX_NOTE_CHARS,
  MAX_RETRY_AFTER_MINUTES,
  MAX_SYSTEM_PROMPT_CHARS,
} from '../../lib/agent/limits.ts'
import { idOf } from '../../lib/core/ids.ts'
import { serve } from '../../lib/http/serve.ts'
import { defineTool } from '../../lib/tool/define.ts'

/** Tools that one call configures at most: each takes some of a transaction's 100 writes. */
const MAX_CONFIGURED_TOOLS = 20

const agentId = idOf('agent').describe('The agent, by its id.')
const name = z.string().min(1).max(MAX_NAME_CHARS)
const systemPrompt = z.string().max(MAX_SYSTEM_PROMPT_CHARS)

/** What a model may say of an agent; its model, its spending and its credentials are its operator's. */
const slim = {
  description: z.string().max(MAX_DESCRIPTION_CHARS).optional().describe('What it is for.'),
  max_steps: z
    .int()
    .min(1)
    .max(MAX_MAX_STEPS)
    .optional()
    .describe('Steps that its tasks may take.'),
  allow_followup: z.boolean().optional().describe('Whether its ended tasks may be gone on with.'),
  retry_after_minutes: z.int().min(1).max(MAX_RETRY_AFTER_MINUTES).optional(),
  max_retries: z.int().min(0).max(MAX_MAX_RETRIES).optional(),
}

const ToolEntry = z.object({
  tool_class: z.string().describe('As get_available_tools tells it.'),
  // Models write "" for what they leave open.
  enabled: z
    .union([z.boolean(), z.literal('')])
    .optional()
    .describe('True enables the tool, false disables it; left out, it stays as it is.'),
  settings: z
    .record(z.string(), z.json())
    .optional()
    .describe('Replaces each named setting whole, for this agent; null lets it inherit again.'),
  operations: z
    .array(
      z.object({
        name: z.string(),
        enabled: z.boolean().default(true).describe('To name an operation turns it on.'),
        auto_approve: z
          .boolean()
          .optional()
          .describe('True lets it run unasked, false has a person asked each time.'),
      }),
    )
    .optional(),
})

const SEND_INSTEAD =
  'has no place here. Send instead: {"name": "Writer", "system_prompt": "You write.", "max_steps": 10}; give it tools with configure_tools afterwards.'

const note = z.string().min(1).max(MAX_NOTE_CHARS)
/** An agent and its tools are rows; what they become is logged. */
const CHANGES_AGENTS = [
  'agents',
  'manage-agents',
  'list-settings',
  'manage-settings',
  'audit',
] as const

export const tool = defineTool({
  name: 'agent',
  description:
    'Makes agents and gives them tools, in three steps: create_agent, configure_tools, read_agent to verify. Keeps notes of your own.',
  displayName: 'Agent builder',
  category: 'system',
  icon: 'bot',
  operations: {
    get_available_tools: {
      description: 'All tools there are, and which of them you have.',
      parameters: z.object({}),
      effect: 'read',
      touches: ['agents', 'list-settings'],
      describe: () => 'List the tools there are',
      execute: async ({ agent }) => (await lookUp()).availableTools(agent.id),
    },
    create_agent: {
      description: 'Make an agent of the same owner, with your model and no tools yet.',
      parameters: z.object({ name, system_prompt: systemPrompt, ...slim }),
      misplaced: { agent: SEND_INSTEAD, tools: SEND_INSTEAD },
      // The agent's id follows from the call: done again, it is the same agent.
      effect: 'idempotent',
      requiresApprovalByDefault: true,
      touches: CHANGES_AGENTS,
      describe: ({ name, system_prompt }) => `Make the agent "${name}": ${system_prompt}`,
      execute: async context => (await load()).createAgentOf(context),
    },
    configure_tools: {
      description:
        'Enable, disable and set up tools of an agent that you made: all that you send, or nothing.',
      parameters: z.object({
        agent_id: agentId,
        tools: z.array(ToolEntry).min(1).max(MAX_CONFIGURED_TOOLS),
      }),
      effect: 'idempotent',
      requiresApprovalByDefault: true,
      touches: CHANGES_AGENTS,
      describe: ({ agent_id, tools }) =>
        `Configure ${tools.map(({ tool_class }) => tool_class).join(', ')} of ${agent_id}`,
      execute: async context => (await load()).configureToolsOf(context),
    },
    read_agent: {
      description: 'An agent of the same owner with its tools.',
      parameters: z.object({ agent_id: agentId }),
      effect: 'read',
      touches: ['agents', 'list-settings'],
      describe: ({ agent_id }) => `Read ${agent_id}`,
      execute: async ({ parameters, principal }) =>
        (await lookUp()).readAgent(parameters.agent_id, principal.id),
    },
    update_agent: {
      description: 'Change an agent that you made.',
      parameters: z.object({
        agent_id: agentId,
        name: name.optional(),
        system_prompt: systemPrompt.optional(),
        ...slim,
      }),
      effect: 'idempotent',
      requiresApprovalByDefault: true,
      touches: CHANGES_AGENTS,
      describe: ({ agent_id, ...changes }) =>
        `Change ${Object.keys(changes).join(', ') || 'nothing'} of ${agent_id}`,
      execute: async context => (await load()).updateAgentOf(context),
    },
    read_notes: {
      description: 'The notes that you wrote, oldest first.',
      parameters: z.object({}),
      effect: 'read',
      touches: ['notes'],
      describe: () => 'Read the notes',
      execute: async ({ agent }) => {
        const { readNotes } = await import('../../lib/agent/note.ts')
        const notes = await readNotes(agent.id)
        return notes.map(({ text, createdAt }) => ({ text, created_at: createdAt }))
      },
    },
    write_notes: {
      description: 'Add a note for your later tasks.',
      parameters: z.object({ text: note }),
      effect: 'idempotent',
      touches: ['notes'],
      describe: ({ text }) => `Note: ${text}`,
      execute: async ({ parameters: { text }, agent, call, clock }) => {
        const { addNote } = await import('../../lib/agent/note.ts')
        await addNote(agent.id, { callId: call.id, text, clock })
        return 'Noted.'
      },
    },
    write_notes_overwrite: {
      description: 'Put one text in the place of all your notes.',
      parameters: z.object({ text: note }),
      effect: 'idempotent',
      enabledByDefault: false,
      requiresApprovalByDefault: true,
      touches: ['notes'],
      describe: ({ text }) => `Replace all notes by: ${text}`,
      execute: async ({ parameters: { text }, agent, call, clock }) => {
        const { overwriteNotes } = await import('../../lib/agent/note.ts')
        await overwriteNotes(agent.id, { callId: call.id, text, clock })
        return 'All other notes are gone.'
      },
    },
  },
})

export const handler = serve(tool)

/** What reads agents, and what makes and changes them, is loaded where it runs. */
const lookUp = () => import('./agent/read.ts')
const load = () => import('./agent/build.ts')
