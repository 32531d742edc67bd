import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as z from 'zod'
import { AppError } from '../../lib/core/errors.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { listTool } from './list.ts'
import { testTemplate, toolTemplate } from './template.ts'

export type MadeTool = { toolFile: string; testFile: string; indexFile: string }

const INDEX_FILE = 'functions/tools/index.ts'

/**
 * Writes a new tool's file, its test and its line in the list of tools, and returns their paths
 * below `root`. A name that no tool may have, or that is taken, is an AppError, and then nothing
 * is written.
 */
export const makeTool = async (root: string, name: string): Promise<MadeTool> => {
  checkName(name)
  const fileName = name.replaceAll('_', '-')
  const toolFile = `functions/tools/${fileName}.ts`
  const testFile = `test/functions/tools/${fileName}.test.ts`
  for (const file of [toolFile, testFile])
    if (existsSync(path.join(root, file)))
      throw new AppError('BAD_REQUEST', `There is a file ${file} already. Take another name.`)
  const index = listTool(await readFile(path.join(root, INDEX_FILE), 'utf8'), name, fileName)
  await writeFile(path.join(root, toolFile), toolTemplate(name), { flag: 'wx' })
  await writeFile(path.join(root, testFile), testTemplate(name, fileName), { flag: 'wx' })
  await writeFile(path.join(root, INDEX_FILE), index)
  return { toolFile, testFile, indexFile: INDEX_FILE }
}

/** The rules are those of every declaration, so a declaration is what is asked. */
const checkName = (name: string): void => {
  try {
    defineTool({
      name,
      description: 'A name to check.',
      operations: {
        run: {
          description: 'Nothing.',
          parameters: z.object({}),
          describe: () => 'Nothing',
          execute: () => undefined,
        },
      },
    })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const better = name
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^[_0-9]+|_+$/g, '')
    const hint = better !== '' && better !== name ? ` Did you mean ${better}?` : ''
    throw new AppError('BAD_REQUEST', `${error.message}${hint}`, { cause: error })
  }
}
