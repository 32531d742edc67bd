import { devNull } from 'node:os'
import type { Secrets } from './data-directory.ts'

export const REGION = 'us-east-1'
/** An account number that AWS uses in examples; nothing of it leaves this machine. */
const ACCOUNT = '123456789012'
export const TABLE = 'espalier'
export const BUCKET = 'espalier'
export const FUNCTION_PREFIX = 'espalier-local-'
export const STATE_MACHINE_ARN = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:espalier-local`

export type Endpoints = {
  dynamodb: string
  s3: string
  lambda: string
  stepFunctions: string
  ses: string
}

/**
 * Points this process at the embedded services, as a deploy's environment points a function at
 * AWS. The developer's own profile and credentials are put out of reach, so that nothing that
 * runs locally can ever touch a real account.
 */
export const setEnvironment = (endpoints: Endpoints, secrets: Secrets): void => {
  for (const name of [
    'AWS_PROFILE',
    'AWS_DEFAULT_PROFILE',
    'AWS_SESSION_TOKEN',
    'AWS_ENDPOINT_URL',
  ])
    delete process.env[name]
  Object.assign(process.env, {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: secrets.accessKeyId,
    AWS_SECRET_ACCESS_KEY: secrets.secretAccessKey,
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
    AWS_ENDPOINT_URL_SFN: endpoints.stepFunctions,
    AWS_ENDPOINT_URL_SESV2: endpoints.ses,
    ESPALIER_TABLE: TABLE,
    ESPALIER_BUCKET: BUCKET,
    ESPALIER_FUNCTION_PREFIX: FUNCTION_PREFIX,
    ESPALIER_STATE_MACHINE_ARN: STATE_MACHINE_ARN,
    ESPALIER_SETTINGS_KEYS: secrets.settingsKeys,
    ESPALIER_LINK_KEYS: secrets.linkKeys,
  })
  // Nobody else is here whom a busy key could keep from anything.
  process.env.ESPALIER_RATE_LIMITS ??= 'key=off'
}
