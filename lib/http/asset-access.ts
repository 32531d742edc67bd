import { notFound } from '../core/errors.ts'
import { getAsset } from '../media/asset.ts'
import { governs } from '../principal/caller.ts'
import { access } from './access.ts'
import { MediaId } from './wire.ts'

/** The media asset in the path, for whoever governs its owner. */
export const governedAsset = access({
  who: 'A key of the file’s owner, or an admin’s.',
  what: 'media asset',
  params: { id: MediaId },
  errors: ['NOT_FOUND'],
  find: async ({ caller, params }) => {
    const asset = await getAsset(params.id)
    if (!governs(caller, asset.principalId)) throw notFound('media asset', asset.id)
    return asset
  },
})
