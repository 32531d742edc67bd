import type { ToolCall } from '../call/tool-call.ts'
import type { Id } from '../core/ids.ts'
import { errorFields, log } from '../core/log.ts'
import {
  type Image,
  imageTypesOf,
  MAX_IMAGE_BYTES,
  MAX_IMAGES,
  MAX_IMAGES_BYTES,
} from '../llm/images.ts'
import { answerOf, type Conversation, callIdsOf } from './conversation.ts'

/** How many assets are looked at for images, the latest first. */
const MAX_CANDIDATES = 100

/**
 * The images that a conversation's calls made, as far as the model takes them: the latest, since
 * each request sends all of them again. Whatever ids a tool's result names, only assets of its
 * agent's owner are shown.
 */
export const imagesOf = async (
  { entries, calls }: Conversation,
  provider: string,
): Promise<ReadonlyMap<Id<'media'>, Image>> => {
  const types = imageTypesOf(provider)
  const images = new Map<Id<'media'>, Image>()
  if (types.length === 0) return images
  const latest = entries.flatMap(callIdsOf).reverse()
  const owners = await ownersOf(latest.flatMap(id => calls.get(id) ?? []))
  if (owners.size === 0) return images
  const { getAssets, readBytes } = await import('../media/asset.ts')
  const assets = await getAssets([...owners.keys()].slice(0, MAX_CANDIDATES))
  let room = MAX_IMAGES_BYTES
  for (const [id, principalId] of owners) {
    const asset = assets.get(id)
    if (asset?.principalId !== principalId || !types.includes(asset.mimeType)) continue
    if (asset.bytes > Math.min(room, MAX_IMAGE_BYTES)) continue
    const bytes = await readBytes(asset).catch(error => {
      // The text still names the asset: a task is not to fail for a picture.
      log('warn', 'image-not-shown', { mediaId: id, ...errorFields(error) })
    })
    if (!bytes) continue
    room -= bytes.byteLength
    images.set(id, { mimeType: asset.mimeType, bytes })
    if (images.size === MAX_IMAGES) break
  }
  return images
}

/** The media that calls made, each with the principal that it must belong to. */
const ownersOf = async (calls: ToolCall[]): Promise<Map<Id<'media'>, string>> => {
  const owners = new Map<Id<'media'>, string>()
  for (const call of calls)
    for (const id of (await answerOf(call))?.media ?? [])
      if (!owners.has(id)) owners.set(id, call.principalId)
  return owners
}
