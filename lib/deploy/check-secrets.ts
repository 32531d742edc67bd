import { MIN_CLAIM_CHARS } from '../principal/claim.ts'
import { checkRing } from '../settings/keyring.ts'
import { messageOf, refuseProblems } from './refuse.ts'
import { KEYRING_SECRETS, SIGN_IN_SECRETS } from './secrets.ts'

/** The secrets that are checked before anything is made, by their names in SST; empty where unset. */
export type CheckedSecrets = Record<'SettingsKeys' | 'LinkKeys' | 'ClaimSecret', string>

const NEW_KEY = '"v1:$(openssl rand -base64 32)"'

/**
 * Refuses a deployment whose functions would refuse to work: INVALID_DEFINITION names every secret
 * that is missing or malformed with the command that sets it, and never says what one holds.
 */
export const checkSecrets = (secrets: CheckedSecrets, stage: string): void => {
  const command = (name: string, value: string) =>
    `npx sst secret set --stage ${stage} ${name} ${value}`
  const problems = [
    ...(
      [
        [KEYRING_SECRETS.ESPALIER_SETTINGS_KEYS, 'settings-encryption'],
        [KEYRING_SECRETS.ESPALIER_LINK_KEYS, 'public-link'],
      ] as const
    ).flatMap(([name, purpose]) => {
      if (secrets[name] === '') return `${name} is not set: ${command(name, NEW_KEY)}`
      const problem = messageOf(() => checkRing(secrets[name], purpose))
      return problem === undefined
        ? []
        : `${name}, which becomes ${problem} Don't replace keys that are in use; a first one is set by: ${command(name, NEW_KEY)}`
    }),
    ...(secrets.ClaimSecret === '' || secrets.ClaimSecret.length >= MIN_CLAIM_CHARS
      ? []
      : [
          `${SIGN_IN_SECRETS.ESPALIER_CLAIM_SECRET} has fewer than ${MIN_CLAIM_CHARS} characters, which can be guessed: ${command('ClaimSecret', '"$(openssl rand -base64 32)"')}`,
        ]),
  ]
  refuseProblems('These secrets have to be set first', problems)
}
