import { getCall } from '../call/tool-call.ts'
import { notFound } from '../core/errors.ts'
import type { ToolRegistry } from '../tool/registry.ts'
import { elapseCall } from '../workflow/elapse-call.ts'
import { access, demand } from './access.ts'
import { demandDecider, demandDecidingKey, demandPerson } from './deciding.ts'
import { CallId } from './wire.ts'

/** The tool call in the path, for those who may read it, its own agent among them. */
export const readableCall = access({
  who: 'A key of the call’s owner, of a member of the group that owns it or of its agent, or an admin’s.',
  what: 'tool call',
  params: { id: CallId },
  errors: ['NOT_FOUND'],
  find: async ({ caller, params }) => {
    const call = await getCall(params.id)
    const missing = () => notFound('tool call', params.id)
    if (!call) throw missing()
    await demand(caller, 'read', call, missing)
    return elapseCall(call)
  },
})

/** The tool call in the path, for those whom an operator, or its author, has decide about such. */
export const decidableCall = (tools: ToolRegistry) =>
  access({
    who: 'A key of whoever the operation leaves it to, with the scope `decide`: unless it says otherwise the call’s owner, an owner or admin of the group that owns it, or an admin.',
    what: 'tool call',
    params: { id: CallId },
    errors: ['NOT_FOUND', 'FORBIDDEN'],
    find: async asked => {
      const call = await readableCall.find(asked)
      await demandDecider(call, asked.caller, tools)
      return call
    },
  })

/** The tool call in the path, for those who may settle it: FORBIDDEN without the scope. */
export const settleableCall = access({
  who: 'A key of the call’s owner, of an owner or admin of the group that owns it, or an admin’s, with the scope `decide`.',
  what: 'tool call',
  params: { id: CallId },
  errors: ['NOT_FOUND', 'FORBIDDEN'],
  find: async asked => {
    const call = await readableCall.find(asked)
    const { caller } = asked
    demandPerson(caller)
    await demand(caller, 'decide', call, () => notFound('tool call', call.id))
    demandDecidingKey(caller)
    return call
  },
})

/**
 * The tool call in the path, for those who may answer its question: what they say is a word to the
 * agent as a prompt is, and decides nothing.
 */
export const answerableCall = access({
  who: 'A key of the call’s owner, of a member of the group that owns it, or an admin’s.',
  what: 'tool call',
  params: { id: CallId },
  errors: ['NOT_FOUND', 'FORBIDDEN'],
  find: async asked => {
    const call = await readableCall.find(asked)
    await demand(asked.caller, 'run', call, () => notFound('tool call', call.id))
    return call
  },
})
