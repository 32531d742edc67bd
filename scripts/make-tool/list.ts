import { AppError } from '../../lib/core/errors.ts'

const LINE = /^ {2}(\w+): \(\) => import\('\.\/[\w-]+\.ts'\),$/

/** The list of tools with one more line: in its place where the list is sorted, else at the end. */
export const listTool = (index: string, name: string, fileName: string): string => {
  const lines = index.split('\n')
  const listed = lines.flatMap((line, at) => {
    const known = LINE.exec(line)?.[1]
    return known === undefined ? [] : [{ at, known }]
  })
  if (listed.some(({ known }) => known === name))
    throw new AppError('BAD_REQUEST', `There is a tool "${name}" already. Take another name.`)
  const last = listed.at(-1)
  if (!last)
    throw new AppError(
      'BAD_REQUEST',
      'functions/tools/index.ts lists no tools in lines of their own.',
    )
  const isSorted = listed.every(({ known }, place) => known >= (listed[place - 1]?.known ?? ''))
  const next = isSorted ? listed.find(({ known }) => known > name) : undefined
  const line = `  ${name}: () => import('./${fileName}.ts'),`
  return lines.toSpliced(next?.at ?? last.at + 1, 0, line).join('\n')
}
