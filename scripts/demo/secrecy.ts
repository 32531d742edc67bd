import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/** The places where a secret was looked for, and those where it was found. */
export type Search = { looked: Record<string, number>; found: string[] }

/**
 * Looks for a secret (as it is, URL-encoded, and in base64) in every file below a folder, byte by
 * byte, and in texts.
 */
export const searchSecret = async (
  secret: string,
  { directory, texts }: { directory: string; texts: Record<string, string[]> },
): Promise<Search> => {
  const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]
  const found: string[] = []
  const files = (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath, entry.name))
  for (const file of files) {
    const bytes = await readFile(file)
    if (forms.some(form => bytes.includes(form))) found.push(path.relative(directory, file))
  }
  for (const [name, lines] of Object.entries(texts))
    if (lines.some(line => forms.some(form => line.includes(form)))) found.push(name)
  const looked = Object.fromEntries(
    Object.entries(texts).map(([name, lines]) => [name, lines.length]),
  )
  return { looked: { files: files.length, ...looked }, found }
}
