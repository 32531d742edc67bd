import { createHmac, timingSafeEqual } from 'node:crypto'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { s3 } from '../aws/s3.ts'
import { config } from '../core/config.ts'
import { notFound } from '../core/errors.ts'
import type { Id } from '../core/ids.ts'
import { lastingKey } from '../settings/keyring.ts'
import { type Asset, getAsset, objectKeyOf, openLink } from './asset.ts'

/** How long the redirect of a link works: it is followed at once, or asked for again. */
export const REDIRECT_SECONDS = 60
/** What a browser would run, and so gets only as a download. */
const ACTIVE_TYPES = [
  'text/html',
  'image/svg+xml',
  'application/xml',
  'text/xml',
  'application/xhtml+xml',
]

/** The public link of an asset: the same one until it is revoked. */
export const publicLink = async (asset: Asset): Promise<string> => {
  const open = await openLink(asset)
  return `${config('publicUrl')}/api/v1/public/media/${open.id}?token=${tokenOf(open)}`
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
export const presignedUrl = (asset: Asset): Promise<string> =>
  getSignedUrl(
    s3(),
    new GetObjectCommand({
      Bucket: config('bucket'),
      Key: objectKeyOf(asset),
      ResponseContentType: asset.mimeType.startsWith('text/')
        ? `${asset.mimeType}; charset=utf-8`
        : asset.mimeType,
      ResponseContentDisposition: dispositionOf(asset),
      ResponseCacheControl: 'no-store',
    }),
    { expiresIn: REDIRECT_SECONDS },
  )

const tokenOf = ({ id, linkVersion }: Asset): string =>
  createHmac('sha256', lastingKey('public-link')).update(`${id}#${linkVersion}`).digest('base64url')

/** RFC 6266 and 8187: the name as UTF-8, which every browser of today reads. */
const dispositionOf = ({ mimeType, filename }: Asset): string =>
  `${ACTIVE_TYPES.includes(mimeType) ? 'attachment' : 'inline'}; filename*=UTF-8''${encodeName(filename)}`

const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
