import { createHash } from 'node:crypto'
import { derivedId } from '../core/ids.ts'
import { cleanFileName } from '../media/file-name.ts'
import type { Keeper } from '../tool/result.ts'
import type { Admission } from './gate.ts'
import { keepResult } from './kept-result.ts'
import { maskBytes, maskSecrets } from './mask.ts'
import type { ToolCall } from './tool-call.ts'

/** A name for bytes that came without one. */
const DEFAULT_STEM = 'result'
const DEFAULT_TYPE = 'application/octet-stream'
/** RFC 6838, 4.2: a type and a subtype of up to 127 characters each. */
const MEDIA_TYPE = /^([a-z0-9][\w!#$&^.+-]{0,126}\/[a-z0-9][\w!#$&^.+-]{0,126})\s*(?:;|$)/

/**
 * Where the bytes go that a call returns: they become a media asset of the agent's owner, if the
 * operation may touch media; else they are kept beside the call's long results. The asset's id
 * follows from the call and the bytes, so that a second run makes no second one.
 */
export const keeperOf =
  (
    call: ToolCall,
    { agent, operation, settings }: Pick<Admission, 'agent' | 'operation' | 'settings'>,
  ): Keeper =>
  async blob => {
    const bytes = maskBytes(new Uint8Array(await blob.arrayBuffer()), settings.secrets)
    const { extension, mimeType } = await kindOf(bytes, declaredType(blob, settings.secrets))
    const filename = givenName(blob, settings.secrets) || `${DEFAULT_STEM}.${extension}`
    const facts = { filename, mime_type: mimeType, bytes: bytes.byteLength }
    const hash = createHash('sha256').update(bytes).digest('hex')
    if (!operation.touches.includes('media') || !operation.touches.includes('bucket'))
      return { json: { ...facts, full_output: await keepResult(call.id, bytes, mimeType) } }
    const { createAsset } = await import('../media/asset.ts')
    const asset = await createAsset(
      {
        id: derivedId('media', call.id, hash),
        principalId: agent.principalId,
        agentId: agent.id,
        ...(call.taskId ? { taskId: call.taskId } : {}),
        filename,
        mimeType,
      },
      bytes,
    )
    return { json: { media_id: asset.id, ...facts }, mediaId: asset.id }
  }

/** Masked before a part of a secret can be left of it, and again since cleaning may join one. */
const givenName = (blob: Blob, secrets: string[]): string =>
  blob instanceof File ? maskSecrets(cleanFileName(maskSecrets(blob.name, secrets)), secrets) : ''

/** Without parameters: what is done with a file depends on its type. A Blob writes it small. */
const declaredType = ({ type }: Blob, secrets: string[]): string => {
  const all = [...secrets, ...secrets.map(secret => secret.toLowerCase())]
  return MEDIA_TYPE.exec(maskSecrets(type, all))?.[1] ?? DEFAULT_TYPE
}

/** What bytes are by what they begin with; else by what whoever made them says. */
const kindOf = async (
  bytes: Uint8Array,
  declared: string,
): Promise<{ mimeType: string; extension: string }> => {
  const { fileTypeFromBuffer } = await import('file-type')
  const found = await fileTypeFromBuffer(bytes)
  if (found) return { mimeType: found.mime, extension: found.ext }
  return { mimeType: declared, extension: 'bin' }
}
