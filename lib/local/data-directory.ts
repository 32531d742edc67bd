import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as z from 'zod'
import { AppError } from '../core/errors.ts'

/** What a local installation keeps secret, in a file that only its owner can read. */
const Secrets = z.object({
  masterKeys: z.string(),
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
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const lock = path.join(directory, 'runner.pid')
  await takeLock(lock, directory)
  return {
    databaseFile: path.join(directory, 'table.sqlite'),
    objects: path.join(directory, 'objects'),
    secrets: await readSecrets(path.join(directory, 'secrets.json')),
    release: () => rm(lock, { force: true }),
  }
}

const takeLock = async (file: string, directory: string): Promise<void> => {
  const holder = Number((await readOptional(file)) ?? 0)
  if (holder > 0 && holder !== process.pid && isAlive(holder))
    throw new AppError(
      'INVALID_STATE',
      `The process ${holder} already runs on ${directory}. Stop it, or set ESPALIER_DATA to another folder.`,
    )
  await writeFile(file, String(process.pid))
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const readSecrets = async (file: string): Promise<Secrets> => {
  const text = await readOptional(file)
  if (text !== undefined) return Secrets.parse(JSON.parse(text))
  const secrets: Secrets = {
    masterKeys: `v1:${randomBytes(32).toString('base64')}`,
    accessKeyId: `LOCAL${randomBytes(8).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
  }
  // Whole or not at all: without these keys, what they encrypted is lost.
  await writeFile(`${file}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 })
  await rename(`${file}.new`, file)
  return secrets
}

const readOptional = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
