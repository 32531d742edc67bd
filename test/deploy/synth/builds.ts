import path from 'node:path'
import { type BuildInput, createBuilder, handlerFile } from './build-function.ts'
import type { Method } from './cli-server.ts'
import type { Build, Request, Synthesis } from './synthesis.ts'
import { tryBundle } from './try-bundle.ts'
import { createTurns } from './turns.ts'

/** Builds that run at once: the builder of SST makes four, on machines with more than two cores. */
const AT_ONCE = 2

/** Answers what SST asks of its builder, and takes down what that was. */
export const createBuilds = ({
  request,
  root,
  work,
}: {
  request: Request
  root: string
  work: string
}) => {
  const builds: Build[] = []
  const targets: Synthesis['targets'] = []
  const builder = createBuilder({ root, work, replaced: request.replaced })
  const inTurn = createTurns(AT_ONCE)
  const tried = new Map<string, Promise<string[]>>()

  /** A folder that many functions share is tried once. */
  const tryOnce = (folder: string, handler: string): Promise<string[]> => {
    const key = `${folder}\n${handler}`
    const trying = tried.get(key) ?? inTurn(() => tryBundle(folder, handler))
    tried.set(key, trying)
    return trying
  }

  const lookAt = async (input: BuildInput) => {
    const { handler, bundle } = input
    if (bundle) {
      const errors =
        request.builds !== 'none' ? await tryOnce(path.resolve(root, bundle), handler) : []
      return { handler, out: bundle, errors, sourcemaps: [] }
    }
    if (request.builds === 'all') return inTurn(() => builder(input))
    // The folder that is zipped must be there, and be small.
    const isThere = handlerFile(root, handler) !== undefined
    return {
      handler: `bundle${path.extname(handler)}`,
      out: import.meta.dirname,
      errors: isThere ? [] : [`Handler not found: ${handler}`],
      sourcemaps: [],
    }
  }

  const build = async (input: BuildInput) => {
    const result = await lookAt(input)
    const { functionID: functionId, handler, bundle } = input
    const given = bundle ? { given: bundle } : {}
    builds.push({ functionId, handler, ...given, out: result.out, errors: result.errors })
    return result
  }

  const addTarget = async (input: BuildInput) => {
    targets.push(input)
    return {}
  }

  const methods: Record<string, Method> = {
    'Runtime.Build': build,
    'Runtime.AddTarget': addTarget,
  }
  return { builds, targets, methods }
}
