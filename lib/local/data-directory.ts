import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as z from 'zod'
import { AppError } from '../core/errors.ts'
import { KEY_BYTES } from '../settings/keyring.ts'
import { lockFolder } from './folder-lock.ts'

/** What a local installation keeps secret, in a file that only its owner can read. */
const Secrets = z.object({
  settingsKeys: z.string(),
  linkKeys: z.string(),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
})
export type Secrets = z.infer<typeof Secrets>

/** Where the local runner keeps its data, and what it needs to read it again. */
export type DataDirectory = {
  databaseFile: string
  objects: string
  secrets: Secrets
  /** Lets another runner have it. */
  release: () => Promise<void>
}

/**
 * Opens a data directory, or makes it. One runner at a time may have it: a second one would take
 * the first one's tasks for abandoned. A runner that was killed holds nothing.
 */
export const openDataDirectory = async (directory: string): Promise<DataDirectory> => {
  await mkdir(directory, { recursive: true, mode: PRIVATE })
  await makePrivate(directory)
  const lock = await lockFolder(directory)
  if (!lock)
    throw new AppError(
      'INVALID_STATE',
      `Another process runs on ${directory}. Stop it, or set ESPALIER_DATA to another folder.`,
    )
  return {
    databaseFile: path.join(directory, 'table.sqlite'),
    objects: path.join(directory, 'objects'),
    secrets: await readSecrets(path.join(directory, 'secrets.json')),
    release: lock.release,
  }
}

/** Its owner alone may enter the folder, and so read what is in it, whatever mode the files have. */
const PRIVATE = 0o700
/** Set on folders that all users write to, such as /tmp. */
const STICKY = 0o1000

/** Closes a folder that was there before, and perhaps open to all, to everyone else. */
const makePrivate = async (directory: string): Promise<void> => {
  const { mode } = await stat(directory)
  if (mode & STICKY) throw notPrivate(directory)
  await chmod(directory, PRIVATE).catch(cause => {
    throw notPrivate(directory, cause)
  })
}

const notPrivate = (directory: string, cause?: unknown) =>
  new AppError(
    'NOT_CONFIGURED',
    `${directory} can't be closed to others, who could read the keys in it. Set ESPALIER_DATA to a folder of your own.`,
    { cause },
  )

const readSecrets = async (file: string): Promise<Secrets> => {
  const text = await readOptional(file)
  if (text !== undefined) return Secrets.parse(JSON.parse(text))
  const secrets: Secrets = {
    settingsKeys: newRing(),
    linkKeys: newRing(),
    accessKeyId: `LOCAL${randomBytes(8).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
  }
  // Whole or not at all: without these keys, what they encrypted is lost.
  await writeFile(`${file}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 })
  await rename(`${file}.new`, file)
  return secrets
}

const newRing = () => `v1:${randomBytes(KEY_BYTES).toString('base64')}`

const readOptional = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
