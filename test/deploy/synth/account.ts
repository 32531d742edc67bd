import { createHash } from 'node:crypto'

// The account that is deployed to: what AWS would answer for it, made up the same each time.

export const ACCOUNT = '123456789012'
export const REGION = 'eu-central-1'

export const arnOf = (
  service: string,
  resource: string,
  { region = REGION, account = ACCOUNT }: { region?: string; account?: string } = {},
): string => `arn:aws:${service}:${region}:${account}:${resource}`

/** Letters and digits that stand for what AWS and Pulumi draw at random. */
export const drawn = (seed: string, chars = 10): string =>
  createHash('sha256').update(seed).digest('hex').slice(0, chars)

/** What the CLI of SST has made in the account before a stage's first deploy. */
export const BOOTSTRAP = {
  asset: 'sst-asset-abcdefghijkl',
  assetEcrRegistryId: ACCOUNT,
  assetEcrUrl: `${ACCOUNT}.dkr.ecr.${REGION}.amazonaws.com/sst-asset`,
  state: 'sst-state-abcdefghijkl',
  appsyncHttp: 'abcdefghijkl.appsync-api.amazonaws.com',
  appsyncRealtime: 'abcdefghijkl.appsync-realtime-api.amazonaws.com',
}
