import { SECRETS } from '../stages.ts'
import { LAMBDA, one } from '../synth/find.ts'
import { type Fault, find } from './spoil.ts'

export const STORE_FAULTS: Fault[] = [
  [
    'an index of another key',
    synthesis => {
      const { inputs } = one(synthesis, 'aws:dynamodb/table:Table')
      inputs.globalSecondaryIndexes = JSON.parse(
        JSON.stringify(inputs.globalSecondaryIndexes).replace('gsi2sk', 'gsi2s'),
      )
    },
    'The list of indexes',
  ],
  [
    'a table that is paid for by the hour',
    synthesis => {
      one(synthesis, 'aws:dynamodb/table:Table').inputs.billingMode = 'PROVISIONED'
    },
    'How the table is billed',
  ],
  [
    'rows that are kept for ever',
    synthesis => {
      one(synthesis, 'aws:dynamodb/table:Table').inputs.ttl = {
        attributeName: 'ttl',
        enabled: false,
      }
    },
    'The table’s TTL',
  ],
  [
    'a bucket that may be opened',
    synthesis => {
      one(
        synthesis,
        'aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock',
      ).inputs.blockPublicPolicy = false
    },
    'The bucket’s blockPublicPolicy',
  ],
  [
    'a bucket that takes plain HTTP',
    synthesis => {
      one(synthesis, 'aws:s3/bucketPolicy:BucketPolicy').inputs.policy =
        '{"Version":"2012-10-17","Statement":[]}'
    },
    'The bucket’s policy',
  ],
  [
    'a secret that is not marked',
    synthesis => {
      find(synthesis, LAMBDA, 'TickFunction').secrets = []
    },
    'TickFunction (aws:lambda/function:Function) holds SettingsKeys in environment.variables.ESPALIER_SETTINGS_KEYS, which is not marked',
  ],
  [
    'a secret in a description',
    synthesis => {
      const tick = find(synthesis, LAMBDA, 'TickFunction')
      tick.inputs.description = `It is ${SECRETS.LinkKeys}`
      tick.secrets.push('description')
    },
    'TickFunction (aws:lambda/function:Function) holds LinkKeys in description',
  ],
  [
    'a secret among the outputs',
    synthesis => {
      synthesis.outputs.key = SECRETS.SettingsKeys
    },
    'The outputs hold SettingsKeys',
  ],
  [
    'a personal stage that can’t be removed',
    synthesis => {
      one(synthesis, 'aws:s3/bucket:Bucket').inputs.forceDestroy = false
      one(synthesis, 'aws:dynamodb/table:Table').retained = true
    },
    'DataTable (aws:dynamodb/table:Table) stays when the stage is removed',
  ],
]
