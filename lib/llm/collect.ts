import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { argumentsText, stateOf } from './arguments.ts'
import { type AssistantPart, ProviderOptions } from './message.ts'
import type { FinishReason } from './model.ts'

type Draft =
  | { type: 'text' | 'reasoning'; id: string; text: string; metadata: SharedV4ProviderMetadata }
  | {
      type: 'tool-call'
      id: string
      toolName: string
      /** What the deltas brought. */
      streamed: string
      /** The driver's own text of the whole call; absent where the stream died within the call. */
      final?: string
      metadata: SharedV4ProviderMetadata
    }

/** The parts of an answer so far, in the order in which they began. */
export type Collected = { drafts: Draft[] }

export const emptyCollection = (): Collected => ({ drafts: [] })

/** Takes in what belongs to the message; every other part of the stream is the caller's. */
export const collect = (collected: Collected, part: LanguageModelV4StreamPart): void => {
  switch (part.type) {
    case 'text-start':
      begin(collected, 'text', part)
      return
    case 'reasoning-start':
      begin(collected, 'reasoning', part)
      return
    case 'text-delta':
    case 'text-end':
      extend(collected, 'text', part)
      return
    case 'reasoning-delta':
    case 'reasoning-end':
      extend(collected, 'reasoning', part)
      return
    case 'tool-input-start':
      if (!part.providerExecuted) call(collected, part.id, part.toolName, part.providerMetadata)
      return
    case 'tool-input-delta':
    case 'tool-input-end': {
      const draft = findCall(collected, part.id)
      if (!draft) return
      draft.streamed += part.type === 'tool-input-delta' ? part.delta : ''
      draft.metadata = merge(draft.metadata, part.providerMetadata)
      return
    }
    case 'tool-call':
      // What the provider runs on its own side is no call of ours.
      if (part.providerExecuted) return
      call(collected, part.toolCallId, part.toolName, part.providerMetadata).final = part.input
      return
    default:
      return
  }
}

export const hasCalls = ({ drafts }: Collected): boolean =>
  drafts.some(draft => draft.type === 'tool-call')

/** The parts as a message has them, each call with its state. */
export const finish = ({ drafts }: Collected, finishReason: FinishReason): AssistantPart[] =>
  drafts.map(draft => {
    const providerOptions = toOptions(draft.metadata)
    if (draft.type !== 'tool-call')
      return { type: draft.type, text: draft.text, ...providerOptions }
    const arrival = { finishReason, streamed: draft.streamed !== '' }
    const input = argumentsText(draft.final ?? draft.streamed, finishReason)
    const { id: toolCallId, toolName } = draft
    const state = stateOf(input, arrival)
    return { type: 'tool-call', toolCallId, toolName, input, state, ...providerOptions }
  })

type Piece = { id: string; delta?: string; providerMetadata?: SharedV4ProviderMetadata }

const begin = ({ drafts }: Collected, type: 'text' | 'reasoning', piece: Piece): void => {
  drafts.push({ type, id: piece.id, text: '', metadata: merge({}, piece.providerMetadata) })
}

/** Some drivers use an id again for a later part, so the last draft of an id is the one meant. */
const extend = (collected: Collected, type: 'text' | 'reasoning', piece: Piece): void => {
  const draft = collected.drafts.findLast(
    ({ type: other, id }) => other === type && id === piece.id,
  )
  if (!draft || draft.type === 'tool-call') return
  draft.text += piece.delta ?? ''
  draft.metadata = merge(draft.metadata, piece.providerMetadata)
}

type CallDraft = Extract<Draft, { type: 'tool-call' }>

const findCall = ({ drafts }: Collected, id: string): CallDraft | undefined =>
  drafts.findLast((draft): draft is CallDraft => draft.type === 'tool-call' && draft.id === id)

const call = (
  collected: Collected,
  id: string,
  toolName: string,
  metadata?: SharedV4ProviderMetadata,
): CallDraft => {
  const known = findCall(collected, id)
  if (known && known.final === undefined) {
    known.metadata = merge(known.metadata, metadata)
    return known
  }
  const draft: CallDraft = {
    type: 'tool-call',
    id,
    toolName,
    streamed: '',
    metadata: merge({}, metadata),
  }
  collected.drafts.push(draft)
  return draft
}

/** The last value of each key wins: what a part's end says replaces what its start said. */
const merge = (
  known: SharedV4ProviderMetadata,
  next: SharedV4ProviderMetadata | undefined,
): SharedV4ProviderMetadata => {
  const merged = { ...known }
  for (const [provider, values] of Object.entries(next ?? {}))
    merged[provider] = { ...merged[provider], ...values }
  return merged
}

/** Through JSON, as the history stores it: what would not survive that is not sent back either. */
const toOptions = (metadata: SharedV4ProviderMetadata) =>
  Object.keys(metadata).length === 0
    ? {}
    : { providerOptions: ProviderOptions.parse(JSON.parse(JSON.stringify(metadata))) }
