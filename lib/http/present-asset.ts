import * as z from 'zod'
import type { Asset } from '../media/asset.ts'
import { AgentId, MediaId, PrincipalId, TaskId, Time } from './wire.ts'

export const AssetView = z
  .object({
    id: MediaId,
    principal_id: PrincipalId,
    agent_id: AgentId.nullable(),
    task_id: TaskId.nullable(),
    filename: z.string(),
    mime_type: z.string(),
    bytes: z.int(),
    prompt: z.string().nullable().describe('What it was made from, as the agent told.'),
    signature: z.string().nullable().describe('HMAC-SHA-256 over the bytes, in hex.'),
    public_link: z.boolean().describe('Whether there is a link that anyone can open.'),
    asset_url: z.string(),
    created_at: Time,
  })
  .meta({ id: 'MediaAsset', description: 'A stored file.' })
export type AssetView = z.infer<typeof AssetView>

/** A stored file on the wire, without its bytes. */
export const presentAsset = (asset: Asset): AssetView => ({
  id: asset.id,
  principal_id: asset.principalId,
  agent_id: asset.agentId ?? null,
  task_id: asset.taskId ?? null,
  filename: asset.filename,
  mime_type: asset.mimeType,
  bytes: asset.bytes,
  prompt: asset.prompt ?? null,
  signature: asset.signature ?? null,
  public_link: asset.linkActive,
  asset_url: `/api/v1/assets/${asset.id}`,
  created_at: asset.createdAt,
})
