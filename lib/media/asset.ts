import * as z from 'zod'
import { type Clock, isoNow, systemClock } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import { type Id, idOf } from '../core/ids.ts'
import { getObject, putObject } from '../data/objects.ts'
import * as table from '../data/table.ts'
import { PrincipalId } from '../principal/principal.ts'

export const Asset = z.object({
  id: idOf('media'),
  principalId: PrincipalId,
  agentId: idOf('agent').optional(),
  taskId: idOf('task').optional(),
  filename: z.string(),
  mimeType: z.string(),
  bytes: z.int(),
  /** What it was made from, as the agent told. */
  prompt: z.string().optional(),
  /** HMAC-SHA-256 over the bytes, in hex, where the operator gave a key to sign with. */
  signature: z.string().optional(),
  createdAt: z.iso.datetime(),
  /** The public link's version: raising it revokes every link made before. */
  linkVersion: z.int(),
  linkActive: z.boolean(),
})
export type Asset = z.infer<typeof Asset>

// Access patterns: one asset by id; a principal's assets, newest first.
const assetKey = (id: Id<'media'>): table.Key => ({ pk: id, sk: 'media' })
const indexesOf = (asset: Asset) => ({
  gsi1pk: `${asset.principalId}#media`,
  gsi1sk: `${asset.createdAt}#${asset.id}`,
})
export const objectKeyOf = (asset: Pick<Asset, 'id' | 'principalId'>) =>
  `media/${asset.principalId}/${asset.id}`

/** Stores an asset's bytes, then its row; the same id again leaves the first one as it is. */
export const createAsset = async (
  asset: Omit<Asset, 'bytes' | 'createdAt' | 'linkVersion' | 'linkActive'>,
  body: Uint8Array,
  clock: Clock = systemClock,
): Promise<Asset> => {
  const whole: Asset = {
    ...asset,
    bytes: body.byteLength,
    createdAt: isoNow(clock),
    linkVersion: 0,
    linkActive: false,
  }
  await putObject(objectKeyOf(asset), body, asset.mimeType)
  const outcome = await table.insert(Asset, whole, {
    key: assetKey(asset.id),
    indexes: indexesOf(whole),
  })
  return outcome.item ?? whole
}

/** One asset, or NOT_FOUND. */
export const getAsset = async (id: Id<'media'>): Promise<Asset> => {
  const asset = await table.get(Asset, assetKey(id))
  if (!asset) throw notFound('media asset', id)
  return asset
}

/** Those of these assets that there are, in one batched read. */
export const getAssets = async (ids: Id<'media'>[]): Promise<Map<Id<'media'>, Asset>> => {
  const found = await table.batchGet(ids.map(assetKey))
  return new Map(
    ids.flatMap(id => {
      const asset = found.get(Asset, assetKey(id))
      return asset ? [[id, asset]] : []
    }),
  )
}

export const readBytes = async (asset: Asset): Promise<Uint8Array> => {
  const bytes = await getObject(objectKeyOf(asset))
  if (!bytes) throw new AppError('INTERNAL', `The bytes of ${asset.id} are missing.`)
  return bytes
}

export const listAssets = (principalId: PrincipalId, page: { limit: number; cursor?: string }) =>
  table.query(Asset, { index: 'gsi1', pk: `${principalId}#media`, newestFirst: true, ...page })

/** How many of a principal's assets a search looks through, newest first. */
const MAX_SEARCHED = 1_000
const SEARCH_PAGE = 100

/** The newest assets of a principal that match, looking through a bounded number of them. */
export const findAssets = async (
  principalId: PrincipalId,
  { limit, matches }: { limit: number; matches: (asset: Asset) => boolean },
): Promise<Asset[]> => {
  const found: Asset[] = []
  let cursor: string | undefined
  for (let looked = 0; looked < MAX_SEARCHED && found.length < limit; looked += SEARCH_PAGE) {
    const page = await listAssets(principalId, {
      limit: SEARCH_PAGE,
      ...(cursor ? { cursor } : {}),
    })
    found.push(...page.items.filter(matches))
    cursor = page.cursor
    if (cursor === undefined) break
  }
  return found.slice(0, limit)
}

/** Opens the asset's public link, or finds it open. */
export const openLink = async (asset: Asset): Promise<Asset> =>
  changed(asset, await table.update(Asset, assetKey(asset.id), { set: { linkActive: true } }))

/** Revokes the public link; another one made later differs. */
export const revokeLink = async (asset: Asset): Promise<Asset> =>
  changed(
    asset,
    await table.update(Asset, assetKey(asset.id), {
      set: { linkActive: false },
      add: { linkVersion: 1 },
    }),
  )

const changed = (asset: Asset, outcome: table.Outcome<Asset>): Asset => {
  if (!outcome.ok) throw notFound('media asset', asset.id)
  return outcome.item
}
