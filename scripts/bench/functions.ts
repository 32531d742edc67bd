import { tools } from '../../functions/tools/index.ts'
import { BARE, type Measured, measureFunctions, request, type Subject } from './functions-stage.ts'
import { median } from './process.ts'

/** What each built-in is asked first; of the others, only the import is measured. */
const FIRST_CALLS: Record<string, { operation: string; body: unknown }> = {
  time: { operation: 'now', body: {} },
  calculator: { operation: 'calculate', body: { expression: '1 + 1' } },
  user_info: { operation: 'get', body: {} },
  media: { operation: 'search', body: {} },
}

/** Size, import and first call of every built-in tool's function beside bare Hono, zod and SDK. */
export const measureBuiltIns = async ({ rounds }: { rounds: number }) => {
  const names = Object.keys(tools)
  const subjects: Subject[] = names.map(name => {
    const first = FIRST_CALLS[name]
    return {
      name,
      entry: { module: `tools/${name.replaceAll('_', '-')}` },
      ...(first && {
        event: request('POST', `/api/v1/tools/${name}/operations/${first.operation}`, {
          body: first.body,
        }),
      }),
    }
  })
  const [bare, ...own] = (
    await measureFunctions([BARE, ...subjects], { tools: names, rounds })
  ).map(figuresOf)
  if (!bare) throw new Error('Nothing was measured.')
  return {
    bare,
    tools: own.map(figures => ({
      ...figures,
      ratios: {
        kib: figures.kib / bare.kib,
        import: figures.importMs / bare.importMs,
        together:
          figures.togetherMs === null || bare.togetherMs === null
            ? null
            : figures.togetherMs / bare.togetherMs,
      },
    })),
  }
}

const figuresOf = ({ name, bytes, samples }: Measured) => {
  const together = samples.flatMap(({ importMs, callMs }) =>
    callMs === null ? [] : importMs + callMs,
  )
  return {
    name,
    /** All files: also those that a call loads when it needs them. */
    kib: bytes / 1024,
    importMs: median(samples.map(({ importMs }) => importMs)),
    /** Import and first call. */
    togetherMs: together.length > 0 ? median(together) : null,
  }
}
