import path from 'node:path'
import { tools } from '../functions/tools/index.ts'
import { errorKind } from '../lib/core/error-kind.ts'
import { AppError } from '../lib/core/errors.ts'
import { configurationSource } from '../lib/llm/sealed-keys.ts'
import { createTable } from '../lib/local/create-table.ts'
import { openDataDirectory } from '../lib/local/data-directory.ts'
import { startDynamoDb } from '../lib/local/dynamodb.ts'
import { setEnvironment, TABLE } from '../lib/local/environment.ts'
import { subscriptionSource } from '../lib/notification/secrets.ts'
import { versionsOf } from '../lib/settings/keyring.ts'
import { rotate, type Source, type Survey, settingsSource, survey } from '../lib/settings/rotate.ts'
import { allTools } from '../lib/tool/registry.ts'

// `npm run rotate-keys`: encrypts all stored passwords with the newest key; docs/settings.md says
// what comes before and after. What it prints are counts and places, never a value.

const print = (line: string) => process.stdout.write(`${line}\n`)

const main = async (): Promise<void> => {
  const close = await connect()
  try {
    await run(await secretSources())
  } finally {
    await close()
  }
}

/** The table of a deployment, as the environment has it, or of a local folder that no one uses. */
const connect = async (): Promise<() => Promise<void>> => {
  const { ESPALIER_TABLE: table, ESPALIER_DATA: folder } = process.env
  if (table) return async () => {}
  if (!folder)
    throw new AppError(
      'NOT_CONFIGURED',
      'Set ESPALIER_TABLE and ESPALIER_SETTINGS_KEYS as the deployment has them, or ESPALIER_DATA to the folder of a local installation that is stopped.',
    )
  const data = await openDataDirectory(path.resolve(folder))
  const database = await startDynamoDb({ file: data.databaseFile })
  // Of the services that a local installation has, a rotation asks this one alone.
  const nowhere = 'http://127.0.0.1:9'
  setEnvironment(
    { dynamodb: database.url, s3: nowhere, lambda: nowhere, stepFunctions: nowhere, ses: nowhere },
    data.secrets,
  )
  await createTable(TABLE)
  return async () => {
    await database.close()
    await data.release()
  }
}

const secretSources = async (): Promise<Source[]> => {
  const declared = new Map((await allTools(tools)).map(tool => [tool.name, tool.settings]))
  const isPassword = (tool: string, key: string) => declared.get(tool)?.[key]?.type === 'password'
  return [settingsSource(isPassword), configurationSource, subscriptionSource]
}

const run = async (sources: Source[]): Promise<void> => {
  const [current = '', ...old] = versionsOf('settings-encryption')
  if (old.length === 0)
    print(`There is one version, "${current}". To rotate, put a new one in front of it first.`)
  else
    await rotate(sources, {
      onPage: ({ rows, reencrypted }) =>
        print(`${rows} rows, ${reencrypted} values encrypted anew`),
    })
  tell(await survey(sources), { current, old })
}

const tell = (
  { byVersion, unreadable }: Survey,
  { current, old }: { current: string; old: string[] },
): void => {
  const total = Object.values(byVersion).reduce((sum, count) => sum + count, 0)
  print(`${byVersion[current]} of ${total} encrypted values are now of the version "${current}".`)
  for (const version of old)
    print(
      byVersion[version] === 0
        ? `"${version}" encrypts nothing any more: once no function writes with it, it may be removed, or, as long as calls wait for approval, be renamed to "lasting".`
        : `"${version}" still encrypts ${byVersion[version]}: run this again before it is removed.`,
    )
  for (const { layer, tool, key } of unreadable)
    print(`No key opens "${key}" of ${tool} at ${layer}: enter it there again.`)
  const isDone = unreadable.length === 0 && old.every(version => byVersion[version] === 0)
  if (!isDone) process.exitCode = 1
}

try {
  await main()
} catch (error) {
  // Ours say what to do; the text of others may repeat what they were at.
  const words = error instanceof AppError ? error.message : `It failed: ${errorKind(error).error}`
  process.stderr.write(`${words}\n`)
  process.exitCode = 1
}
