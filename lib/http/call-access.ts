import { getCall } from '../call/tool-call.ts'
import { AppError, notFound } from '../core/errors.ts'
import { governs } from '../principal/caller.ts'
import { elapseCall } from '../workflow/elapse-call.ts'
import { access, mayRead } from './access.ts'
import { CallId } from './wire.ts'

/** The tool call in the path, for whoever governs its owner, and for its own agent to read. */
export const readableCall = access({
  who: 'A key of the call’s owner or of its agent, or an admin’s.',
  what: 'tool call',
  params: { id: CallId },
  errors: ['NOT_FOUND'],
  find: async ({ caller, params }) => {
    const call = await getCall(params.id)
    if (!call || !mayRead(caller, call)) throw notFound('tool call', params.id)
    return elapseCall(call)
  },
})

/** The tool call in the path, for those who may decide it: FORBIDDEN without the scope. */
export const decidableCall = access({
  who: 'A key of the call’s owner, or an admin’s, with the scope `decide`.',
  what: 'tool call',
  params: { id: CallId },
  errors: ['NOT_FOUND', 'FORBIDDEN'],
  find: async asked => {
    const call = await readableCall.find(asked)
    const { caller } = asked
    if (governs(caller, call.principalId) && caller.scopes.includes('decide')) return call
    throw new AppError(
      'FORBIDDEN',
      caller.kind === 'agent'
        ? 'An agent never decides; a person does.'
        : 'This key may not decide: it lacks the scope "decide".',
    )
  },
})
