import { GetObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { s3 } from '../aws/s3.ts'
import { config } from '../core/config.ts'

/** How long the redirect of a link works: it is followed at once, or asked for again. */
export const REDIRECT_SECONDS = 60
/** What a browser would run, and so gets only as a download: HTML, and XML of every kind. */
const ACTIVE_TYPE = /^(?:text\/html|(?:text|application)\/(?:xml|xsl)|[^;]*\+xml)\s*(?:;|$)/i

/** A URL that reads an object from S3 for a minute, as a file of this name and type. */
export const presignedUrl = (
  objectKey: string,
  { filename, mimeType }: { filename: string; mimeType: string },
): Promise<string> =>
  getSignedUrl(
    s3(),
    new GetObjectCommand({
      Bucket: config('bucket'),
      Key: objectKey,
      ResponseContentType: mimeType.startsWith('text/') ? `${mimeType}; charset=utf-8` : mimeType,
      ResponseContentDisposition: `${ACTIVE_TYPE.test(mimeType) ? 'attachment' : 'inline'}; filename*=UTF-8''${encodeName(filename)}`,
      ResponseCacheControl: 'no-store',
    }),
    { expiresIn: REDIRECT_SECONDS },
  )

/** RFC 6266 and 8187: the name as UTF-8, which every browser of today reads. */
const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
