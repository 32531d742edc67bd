/** How Pulumi's wire form tells a secret from any other object (its SDK's `runtime/rpc.ts`). */
const SIGNATURE = '4dabf18193072939515e22adb298388d'
const SECRET = '1b47061264138c4ac30d75fd1eb44270'

/** A secret, so that whatever comes of it is one too. */
export const asSecret = (value: unknown) => ({ [SIGNATURE]: SECRET, value })

/** The value without its wrappings, and the paths at which there were some. */
export const unwrap = (value: unknown, at = ''): { plain: unknown; secrets: string[] } => {
  if (value === null || typeof value !== 'object') return { plain: value, secrets: [] }
  if (isSecret(value)) return { plain: unwrap(value.value).plain, secrets: [at] }
  const entries = Object.entries(value).map(([key, each]) => {
    const { plain, secrets } = unwrap(each, at === '' ? key : `${at}.${key}`)
    return { key, plain, secrets }
  })
  const secrets = entries.flatMap(entry => entry.secrets)
  if (Array.isArray(value)) return { plain: entries.map(({ plain }) => plain), secrets }
  return { plain: Object.fromEntries(entries.map(({ key, plain }) => [key, plain])), secrets }
}

const isSecret = (value: object): value is { value: unknown } =>
  (value as Record<string, unknown>)[SIGNATURE] === SECRET
