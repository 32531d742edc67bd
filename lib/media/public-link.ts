import { createHmac, timingSafeEqual } from 'node:crypto'
import { publicUrl } from '../core/config.ts'
import { notFound } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import { presignedUrl } from '../data/presigned.ts'
import { lastingKey } from '../settings/keyring.ts'
import { type Asset, getAsset, objectKeyOf, openLink } from './asset.ts'

/** The public link of an asset: the same one until it is revoked. */
export const publicLink = async (asset: Asset): Promise<string> => {
  const open = await openLink(asset)
  return `${publicUrl()}/api/v1/public/media/${open.id}?token=${tokenOf(open)}`
}

/** The asset that a public link opens; a wrong, revoked or missing one is NOT_FOUND alike. */
export const openPublic = async (id: Id<'media'>, token: string): Promise<Asset> => {
  const asset = await getAsset(id)
  const [given, right] = [Buffer.from(token), Buffer.from(tokenOf(asset))]
  if (asset.linkActive && given.length === right.length && timingSafeEqual(given, right))
    return asset
  throw notFound('media asset', id)
}

/** A URL that reads the asset's bytes from S3 for a minute. */
export const assetUrl = (asset: Asset): Promise<string> => presignedUrl(objectKeyOf(asset), asset)

const tokenOf = ({ id, linkVersion }: Asset): string =>
  createHmac('sha256', lastingKey('public-link')).update(`${id}#${linkVersion}`).digest('base64url')
