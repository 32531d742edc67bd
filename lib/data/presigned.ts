import { encode } from '../aws/http.ts'
import { presignedGet } from '../aws/s3.ts'
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
  presignedGet(
    { Bucket: config('bucket'), Key: objectKey },
    {
      query: {
        'response-cache-control': 'no-store',
        // RFC 6266 and 8187: the name as UTF-8, which every browser of today reads.
        'response-content-disposition': `${ACTIVE_TYPE.test(mimeType) ? 'attachment' : 'inline'}; filename*=UTF-8''${encode(filename.toWellFormed())}`,
        'response-content-type': mimeType.startsWith('text/')
          ? `${mimeType}; charset=utf-8`
          : mimeType,
      },
      expiresIn: REDIRECT_SECONDS,
    },
  )
