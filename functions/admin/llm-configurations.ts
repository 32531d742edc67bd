import * as z from 'zod'
import { listAgentsOf } from '../../lib/agent/agent.ts'
import { AppError, hasCode, notFound } from '../../lib/core/errors.ts'
import type { Id } from '../../lib/core/ids.ts'
import { governingUser } from '../../lib/http/access.ts'
import { demandInstance } from '../../lib/http/admin-access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply, replyPage } from '../../lib/http/endpoint.ts'
import {
  demandConfigurations,
  keeperOf,
  managedConfiguration,
  readableConfiguration,
} from '../../lib/http/llm-configuration-access.ts'
import {
  ConfigurationOwner,
  configurationFieldsOf,
  LlmConfigurationBody,
  LlmConfigurationPatch,
} from '../../lib/http/llm-configuration-body.ts'
import {
  LlmConfigurationView,
  presentConfiguration,
} from '../../lib/http/present-llm-configuration.ts'
import { creationOf, sameRequest } from '../../lib/http/request.ts'
import { changeVersion, etagOf } from '../../lib/http/version.ts'
import { AgentId, LlmConfigurationId, PrincipalId } from '../../lib/http/wire.ts'
import {
  createConfiguration,
  deleteConfiguration,
  listConfigurations,
  updateConfiguration,
} from '../../lib/llm/configuration.ts'
import { tryModel } from '../../lib/llm/try-model.ts'
import { principalExists } from '../../lib/principal/principal.ts'
import { limitModelTests } from '../../lib/principal/rate-limit.ts'
import { fingerprint } from '../../lib/settings/secret.ts'

const tag = 'LLM configurations'
const path = '/api/v1/llm-configurations'

const UserView = z
  .object({ id: AgentId, name: z.string(), principal_id: PrincipalId })
  .meta({ id: 'LlmConfigurationUser' })

const TrialView = z
  .object({
    ok: z.boolean(),
    milliseconds: z.int(),
    error: z
      .object({
        code: z.string(),
        kind: z.string().nullable().describe('What a model’s provider said, as one of few words.'),
        message: z.string(),
      })
      .nullable(),
  })
  .meta({ id: 'LlmConfigurationTest' })

/** Agents that a refusal names. */
const MAX_NAMED_AGENTS = 20

export const endpoints = {
  createLlmConfiguration: endpoint(
    {
      method: 'POST',
      path,
      tag,
      summary: 'Make an LLM configuration',
      description:
        'For everyone (admins), for a principal, or for one agent. One with an address of its own reaches what is inside only if an admin of the instance made it, or the operator allows the host to be fetched from; and only then the instance’s own key goes there.',
      access: governingUser,
      isRepeatable: true,
      body: LlmConfigurationBody,
      responses: { 200: LlmConfigurationView, 201: LlmConfigurationView },
      errors: ['NOT_FOUND', 'IDEMPOTENCY_MISMATCH', 'NOT_CONFIGURED'],
    },
    async ({ context, subject: caller, body, idempotencyKey }) => {
      const { owner = caller.principalId, ...said } = body
      const missing = () => notFound('owner', owner)
      const auditOwner = await demandConfigurations(caller, 'manage', { owner, missing })
      // An admin may make one for anyone, and a mistyped id is no one.
      if (auditOwner !== 'instance' && !(await principalExists(auditOwner))) throw missing()
      const { id, requestHash } = creationOf('llm', {
        caller,
        route: 'llm-configurations',
        // What is stored of the request must not let anyone try keys against it.
        body: { ...body, api_key: body.api_key && fingerprint(body.api_key) },
        idempotencyKey,
      })
      const { name, provider, model, ...rest } = said
      const { configuration, created } = await createConfiguration(
        { id, owner, requestHash, name, provider, model, ...configurationFieldsOf(rest) },
        keeperOf(caller, { owner, auditOwner }),
      )
      if (!created) sameRequest(configuration.requestHash, requestHash)
      context.header('etag', etagOf(configuration.version))
      return reply(created ? 201 : 200, presentConfiguration(configuration))
    },
  ),

  listLlmConfigurations: endpoint(
    {
      method: 'GET',
      path,
      tag,
      summary: 'List LLM configurations',
      access: governingUser,
      query: z.object({
        owner: ConfigurationOwner.optional().describe('Whose; absent, the caller’s own.'),
      }),
      isPaged: true,
      responses: { 200: z.array(LlmConfigurationView) },
      errors: ['NOT_FOUND'],
    },
    async ({ subject: caller, query: { owner = caller.principalId }, page }) => {
      await demandConfigurations(caller, 'read', { owner, missing: () => notFound('owner', owner) })
      const { items, cursor } = await listConfigurations(owner, page)
      return replyPage(items.map(presentConfiguration), cursor)
    },
  ),

  getLlmConfiguration: endpoint(
    {
      method: 'GET',
      path: `${path}/{id}`,
      tag,
      summary: 'Show an LLM configuration',
      access: readableConfiguration,
      responses: { 200: LlmConfigurationView },
    },
    ({ context, subject: { configuration } }) => {
      context.header('etag', etagOf(configuration.version))
      return reply(200, presentConfiguration(configuration))
    },
  ),

  updateLlmConfiguration: endpoint(
    {
      method: 'PATCH',
      path: `${path}/{id}`,
      tag,
      summary: 'Change an LLM configuration',
      description:
        'What is absent stays; `null` takes away what there is. Its agents’ next steps go by what it says then. With another provider or base URL the key is to be entered again.',
      access: managedConfiguration,
      ifMatch: 'required',
      body: LlmConfigurationPatch,
      responses: { 200: LlmConfigurationView },
      errors: ['NOT_CONFIGURED'],
    },
    async ({ context, subject: { configuration, auditOwner }, caller, params, body, version }) => {
      const { owner } = configuration
      const changed = await changeVersion(configuration, version, {
        change: current =>
          updateConfiguration(
            current,
            configurationFieldsOf(body),
            keeperOf(caller, { owner, auditOwner }),
          ),
        read: async () => (await managedConfiguration.find({ caller, params })).configuration,
      })
      context.header('etag', etagOf(changed.version))
      return reply(200, presentConfiguration(changed))
    },
  ),

  deleteLlmConfiguration: endpoint(
    {
      method: 'DELETE',
      path: `${path}/{id}`,
      tag,
      summary: 'Delete an LLM configuration',
      description: 'Its key goes with it. One that agents use stays; the refusal names them.',
      access: managedConfiguration,
      ifMatch: 'required',
      responses: { 200: z.object({ id: LlmConfigurationId, deleted: z.literal(true) }) },
      errors: ['LLM_CONFIGURATION_IN_USE'],
    },
    async ({ subject: { configuration, auditOwner }, caller, params, version }) => {
      const { id, owner } = configuration
      await changeVersion(configuration, version, {
        change: current => deleteConfiguration(current, keeperOf(caller, { owner, auditOwner })),
        read: async () => (await managedConfiguration.find({ caller, params })).configuration,
      }).catch(error => namingAgents(error, id))
      return reply(200, { id, deleted: true })
    },
  ),

  listLlmConfigurationAgents: endpoint(
    {
      method: 'GET',
      path: `${path}/{id}/agents`,
      tag,
      summary: 'List the agents that use an LLM configuration',
      description: 'Of one that is everyone’s, only admins see who does.',
      access: readableConfiguration,
      isPaged: true,
      responses: { 200: z.array(UserView) },
    },
    async ({ subject: { configuration }, caller, page }) => {
      if (configuration.owner === 'global') demandInstance(caller)
      const { items, cursor } = await listAgentsOf(configuration.id, page)
      const users = items.map(({ id, name, principalId }) => ({
        id,
        name,
        principal_id: principalId,
      }))
      return replyPage(users, cursor)
    },
  ),

  testLlmConfiguration: endpoint(
    {
      method: 'POST',
      path: `${path}/{id}/test`,
      tag,
      summary: 'Ask the model of an LLM configuration for a word',
      description:
        'Makes one small request as tasks do, and says whether an answer came or what was in the way.',
      access: managedConfiguration,
      responses: { 200: TrialView },
    },
    async ({ subject: { configuration }, caller }) => {
      await limitModelTests(caller)
      const trial = await tryModel(configuration)
      return reply(200, { error: null, ...trial })
    },
  ),
}

/** A refusal because of agents says which; the list may lag behind their number. */
const namingAgents = async (error: unknown, id: Id<'llm'>): Promise<never> => {
  if (!(error instanceof AppError) || !hasCode(error, 'LLM_CONFIGURATION_IN_USE')) throw error
  const { items } = await listAgentsOf(id, { limit: MAX_NAMED_AGENTS })
  const agents = items.map(agent => ({ id: agent.id, name: agent.name }))
  const names = agents.map(({ name }) => `"${name}"`).join(', ')
  throw new AppError(error.code, `${error.message} They are: ${names}.`, {
    details: { ...(error.details as object), agents },
  })
}

export const handler = handlerOf(appOf(endpoints))
