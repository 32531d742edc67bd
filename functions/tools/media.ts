import { createHmac } from 'node:crypto'
import * as z from 'zod'
import { cut } from '../../lib/core/clip.ts'
import { AppError, notFound } from '../../lib/core/errors.ts'
import { derivedId, idOf } from '../../lib/core/ids.ts'
import { serve } from '../../lib/http/serve.ts'
import type { Asset } from '../../lib/media/asset.ts'
import { cleanFileName, stemOf } from '../../lib/media/file-name.ts'
import {
  AUTHORED_TYPES,
  type AuthoredType,
  MAX_AUTHORED_BYTES,
  MAX_FILENAME_CHARS,
  MAX_ORIGIN_CHARS,
} from '../../lib/media/limits.ts'
import { type CallContext, defineTool } from '../../lib/tool/define.ts'
import { result } from '../../lib/tool/result.ts'
import { setting } from '../../lib/tool/setting.ts'

/** What `search` returns: the default and the most. */
const DEFAULT_RESULTS = 24
const MAX_RESULTS = 100
/** A text source that the model may read whole, in bytes. */
const MAX_SOURCE_BYTES = 5 * 1024 * 1024

const mediaId = idOf('media').describe('The id of a media asset.')
const types = Object.keys(AUTHORED_TYPES) as [AuthoredType, ...AuthoredType[]]

export const tool = defineTool({
  name: 'media',
  description: 'Stores documents and finds, reads and shares what is stored.',
  displayName: 'Media',
  category: 'data',
  icon: 'file-text',
  settings: {
    scope: setting.select({
      label: 'What the agent may see',
      description: 'Its own media, or all of its owner’s.',
      options: ['agent', 'principal'],
      default: 'principal',
      exposeToLlm: true,
    }),
    signing_key: setting.password({
      label: 'Signing key',
      description:
        'Signs each document that the agent writes (HMAC-SHA-256 over its bytes), so that whoever has the key can tell that it came from here.',
    }),
  },
  operations: {
    create_media: {
      description: 'Store a text document.',
      parameters: z.object({
        filename: z
          .string()
          .min(1)
          .max(MAX_FILENAME_CHARS)
          .describe('A file name; its extension follows from the type.'),
        content: z
          .string()
          .describe(`The whole document, at most ${MAX_AUTHORED_BYTES / 1024} KiB.`),
        mime_type: z.enum(types).default('text/markdown').describe('What kind of text it is.'),
        prompt: z.string().max(MAX_ORIGIN_CHARS).optional().describe('What it was written for.'),
      }),
      // The asset's id follows from the call: done again, it is the same asset.
      effect: 'idempotent',
      touches: ['media', 'bucket'],
      describe: ({ filename, mime_type }) => `Store the document "${filename}" (${mime_type})`,
      execute: async ({ parameters, settings, agent, principal, task, call, clock }) => {
        const { filename, content, mime_type: mimeType, prompt } = parameters
        const bytes = Buffer.from(content)
        if (bytes.byteLength > MAX_AUTHORED_BYTES)
          throw new AppError(
            'PAYLOAD_TOO_LARGE',
            `The document has ${bytes.byteLength} bytes; at most ${MAX_AUTHORED_BYTES} fit. Split it.`,
          )
        const { createAsset } = await import('../../lib/media/asset.ts')
        const asset = await createAsset(
          {
            id: derivedId('media', call.id),
            principalId: principal.id,
            agentId: agent.id,
            ...(task ? { taskId: task.id } : {}),
            filename: fileName(filename, mimeType),
            mimeType,
            ...(prompt === undefined ? {} : { prompt }),
            ...(settings.signing_key ? { signature: sign(bytes, settings.signing_key) } : {}),
          },
          bytes,
          clock,
        )
        const summary = describeAsset(asset)
        return result({ content: summary, data: summary, media: [asset.id] })
      },
    },
    search: {
      description: 'List media, newest first, optionally by a part of the file name.',
      parameters: z.object({
        query: z.string().optional().describe('A part of the file name.'),
        limit: z.int().min(1).max(MAX_RESULTS).default(DEFAULT_RESULTS),
      }),
      effect: 'read',
      touches: ['media'],
      describe: ({ query }) => (query ? `Search the media for "${query}"` : 'List the media'),
      execute: async ({ parameters: { query = '', limit }, settings, agent, principal }) => {
        const { findAssets } = await import('../../lib/media/asset.ts')
        const wanted = await findAssets(principal.id, {
          limit,
          matches: asset =>
            isVisible(asset, { settings, agent, principal }) &&
            asset.filename.toLowerCase().includes(query.toLowerCase()),
        })
        return wanted.map(describeAsset)
      },
    },
    get_media: {
      description: 'Tell about one asset.',
      parameters: z.object({ media_id: mediaId }),
      effect: 'read',
      touches: ['media'],
      describe: ({ media_id }) => `Look up ${media_id}`,
      execute: async context => describeAsset(await visibleAsset(context)),
    },
    get_source: {
      description: 'Read the text of a stored document.',
      parameters: z.object({ media_id: mediaId }),
      effect: 'read',
      touches: ['media', 'bucket'],
      describe: ({ media_id }) => `Read ${media_id}`,
      execute: async context => {
        const asset = await visibleAsset(context)
        if (asset.bytes > MAX_SOURCE_BYTES)
          throw new AppError(
            'PAYLOAD_TOO_LARGE',
            `The document has ${asset.bytes} bytes; at most ${MAX_SOURCE_BYTES} can be read.`,
          )
        const { readBytes } = await import('../../lib/media/asset.ts')
        return Buffer.from(await readBytes(asset)).toString('utf8')
      },
    },
    get_public_url: {
      description: 'Get a link with which anyone can open an asset, without signing in.',
      parameters: z.object({ media_id: mediaId }),
      effect: 'idempotent',
      requiresApprovalByDefault: true,
      touches: ['media', 'links'],
      describe: ({ media_id }) => `Make ${media_id} public to anyone who has the link`,
      execute: async context => {
        const asset = await visibleAsset(context)
        const { publicLink } = await import('../../lib/media/public-link.ts')
        return { media_id: asset.id, public_url: await publicLink(asset) }
      },
    },
  },
})

export const handler = serve(tool)

type Seer = {
  settings: { scope: string }
  agent: { id: string }
  principal: { id: string }
}

const isVisible = (asset: Asset, { settings, agent, principal }: Seer): boolean =>
  asset.principalId === principal.id &&
  (settings.scope === 'principal' || asset.agentId === agent.id)

const visibleAsset = async ({
  parameters,
  ...seer
}: CallContext<{ media_id: Asset['id'] }, Seer['settings']>): Promise<Asset> => {
  const { getAsset } = await import('../../lib/media/asset.ts')
  const asset = await getAsset(parameters.media_id)
  if (!isVisible(asset, seer)) throw notFound('media asset', asset.id)
  return asset
}

const describeAsset = (asset: Asset) => ({
  media_id: asset.id,
  filename: asset.filename,
  mime_type: asset.mimeType,
  bytes: asset.bytes,
  asset_url: `/api/v1/assets/${asset.id}`,
  created_at: asset.createdAt,
  ...(asset.signature ? { signature: asset.signature } : {}),
})

/** A clean name, with the extension of its type. */
const fileName = (name: string, type: AuthoredType): string => {
  const extension = AUTHORED_TYPES[type]
  const stem = stemOf(cleanFileName(name)) || 'document'
  return cut(stem, MAX_FILENAME_CHARS - extension.length) + extension
}

const sign = (bytes: Uint8Array, key: string): string =>
  createHmac('sha256', key).update(bytes).digest('hex')
