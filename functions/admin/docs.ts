import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import * as z from 'zod'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { type Content, contentOf, sendContent } from '../../lib/http/content.ts'
import { endpoint, type Raw } from '../../lib/http/endpoint.ts'
import { anyone } from '../../lib/http/public-access.ts'
import {
  PACKAGE_FILES,
  type PackageFile,
  packagePath,
  REFERENCE_PAGE,
  REFERENCE_POLICY,
  REFERENCE_SCRIPT,
} from '../../lib/http/reference-page.ts'

const START = 'start.js'
const FILES = [START, ...(Object.keys(PACKAGE_FILES) as PackageFile[])] as const
const FileName = z.enum(FILES).describe('A file of the page.')
type FileName = z.infer<typeof FileName>

const notModified = { description: 'The caller has it already.' } satisfies Raw
const common = { method: 'GET', tag: 'Reference', access: anyone, hasHead: true } as const

export const endpoints = {
  openReference: endpoint(
    {
      ...common,
      path: '/docs',
      summary: 'Browse this document',
      responses: {
        200: { description: 'A page for browsers.', types: ['text/html'] },
        304: notModified,
      },
    },
    async ({ context }) => {
      context.header('content-security-policy', REFERENCE_POLICY)
      context.header('referrer-policy', 'no-referrer')
      return sendContent(context, await contents('page'))
    },
  ),
  openReferenceFile: endpoint(
    {
      ...common,
      path: '/docs/{file}',
      summary: 'Load a part of the page',
      params: { file: FileName },
      responses: {
        200: { description: 'The file.', types: ['text/css', 'text/javascript', 'image/png'] },
        304: notModified,
      },
    },
    async ({ context, params }) => sendContent(context, await contents(params.file)),
  ),
}

export const handler = handlerOf(appOf(endpoints))

const known = new Map<string, Promise<Content>>()

/** Each is read and compressed once. */
const contents = (name: 'page' | FileName): Promise<Content> => {
  const content = known.get(name) ?? load(name)
  known.set(name, content)
  return content
}

const load = async (name: 'page' | FileName): Promise<Content> => {
  if (name === 'page') return contentOf('text/html; charset=utf-8', Buffer.from(REFERENCE_PAGE))
  if (name === START)
    return contentOf('text/javascript; charset=utf-8', Buffer.from(REFERENCE_SCRIPT))
  // Found as any package is: here in our own folder of packages, deployed in the function's.
  const file = createRequire(import.meta.url).resolve(packagePath(name))
  return contentOf(PACKAGE_FILES[name], await readFile(file))
}
