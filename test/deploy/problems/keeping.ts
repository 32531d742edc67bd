import { one } from '../synth/find.ts'
import type { Synthesis } from '../synth/synthesis.ts'
import { differs } from './differs.ts'

/** What holds data: production keeps it whatever happens to the stack, a personal stage goes whole. */
export const keepingProblems = (
  synthesis: Synthesis,
  { isProduction }: { isProduction: boolean },
): string[] => {
  const table = one(synthesis, 'aws:dynamodb/table:Table')
  const bucket = one(synthesis, 'aws:s3/bucket:Bucket')
  const { app, resources } = synthesis
  return [
    ...differs('What a removal does', app.removal, isProduction ? 'retain' : 'remove'),
    ...differs('The stage’s protection', app.protect, isProduction),
    ...differs('Whether the table is kept', table.retained, isProduction),
    ...differs('Whether the bucket is kept', bucket.retained, isProduction),
    ...differs('Whether the bucket goes with all in it', bucket.inputs.forceDestroy, !isProduction),
    ...(isProduction
      ? []
      : resources
          .filter(({ retained, isProtected }) => retained || isProtected)
          .map(({ name, type }) => `${name} (${type}) stays when the stage is removed`)),
  ]
}
