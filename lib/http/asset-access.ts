import { notFound } from '../core/errors.ts'
import { type Asset, getAsset } from '../media/asset.ts'
import type { Permission } from '../principal/permission.ts'
import { access, demand } from './access.ts'
import { MediaId } from './wire.ts'

/** The media asset in the path, for those who may do this with it. */
const assetFor = (permission: Permission, who: string) =>
  access({
    who,
    what: 'media asset',
    params: { id: MediaId },
    errors: permission === 'read' ? ['NOT_FOUND'] : ['NOT_FOUND', 'FORBIDDEN'],
    find: async ({ caller, params }): Promise<Asset> => {
      const asset = await getAsset(params.id)
      const { principalId } = asset
      await demand(caller, permission, { principalId }, () => notFound('media asset', asset.id))
      return asset
    },
  })

export const readableAsset = assetFor(
  'read',
  'A key of the file’s owner, of a member of the group that owns it, or an admin’s.',
)
export const managedAsset = assetFor(
  'manage-media',
  'A key of the file’s owner, of an owner or admin of the group that owns it, or an admin’s.',
)
