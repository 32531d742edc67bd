import { answer } from './data-sources.ts'
import { make } from './outputs.ts'
import { unwrap } from './secret-values.ts'
import type { Resource } from './synthesis.ts'

/** What Pulumi's SDK asks of its engine's stand-in: to make a resource, and to answer a question. */
export type Mocks = {
  newResource: (asked: {
    type: string
    name: string
    inputs: Record<string, unknown>
    id?: string
    custom?: boolean
  }) => { id: string; state: Record<string, unknown> }
  call: (asked: { token: string; inputs: Record<string, unknown> }) => Record<string, unknown>
}

type Options = {
  parent?: { __pulumiType: string; __name: string }
  retainOnDelete?: boolean
  protect?: boolean
}

/** What a stack's transformation is shown of each resource, before the engine is. */
export type Seen = { type: string; name: string; opts: Options }

/**
 * Takes down everything that a program registers. `note` is told of what it must refuse: Pulumi
 * doesn't always say why something failed.
 */
export const createRecorder = (
  app: { name: string; stage: string },
  note: (error: unknown) => void,
) => {
  const resources: Resource[] = []
  const seen = new Map<string, Options[]>()
  const chains = new Map<string, string>()

  const observe = ({ type, name, opts }: Seen): undefined => {
    const key = keyOf(type, name)
    const chain = opts.parent && chains.get(keyOf(opts.parent.__pulumiType, opts.parent.__name))
    chains.set(key, chain === undefined ? type : `${chain}$${type}`)
    seen.set(key, [...(seen.get(key) ?? []), opts])
  }

  const newResource: Mocks['newResource'] = ({ type, name, inputs, id, custom }) => {
    const { plain, secrets } = unwrap(inputs)
    const given = plain as Record<string, unknown>
    const opts = seen.get(keyOf(type, name))?.shift()
    const urn = `urn:pulumi:${app.stage}::${app.name}::${chains.get(keyOf(type, name)) ?? type}::${name}`
    if (resources.some(other => other.urn === urn))
      throw new Error(`Two resources would both be ${urn}.`)
    const made = make({ type, name, inputs: given })
    const resource: Resource = {
      type,
      name,
      urn,
      id: id || made.id,
      custom: custom ?? false,
      ...(opts?.parent
        ? { parent: { type: opts.parent.__pulumiType, name: opts.parent.__name } }
        : {}),
      inputs: given,
      state: { ...given, ...made.outputs },
      secrets,
      retained: opts?.retainOnDelete ?? false,
      isProtected: opts?.protect ?? false,
    }
    resources.push(resource)
    return { id: resource.id, state: { ...inputs, ...made.outputs } }
  }

  const noting =
    <Asked, Answer>(answering: (asked: Asked) => Answer) =>
    (asked: Asked): Answer => {
      try {
        return answering(asked)
      } catch (error) {
        note(error)
        throw error
      }
    }
  const mocks: Mocks = {
    newResource: noting(newResource),
    call: noting(({ token, inputs }) => answer(token, inputs)),
  }
  return { mocks, observe, resources }
}

const keyOf = (type: string, name: string) => `${type}::${name}`
