import { trace } from './endpoint.ts'
import { exchange, type HttpRequest, type HttpResponse } from './http.ts'
import { repeatedly } from './retry.ts'
import { ServiceError } from './service-error.ts'
import { sign } from './sign.ts'

// A small client in place of the SDK's: of a function's start the SDK would be the larger part. It
// signs by AWS's own package, waits and tries again as the SDK does, and sends what the SDK sends,
// which test/lib/aws holds it to.

/** What is asked of a service, under the names that its reference has. */
export type Handler = (args: { input: object }) => Promise<{ output: object }>
export type Middleware = (next: Handler, context: { commandName: string }) => Handler

/** Around a command as a whole, or around each of its attempts. */
type Step = 'initialize' | 'finalizeRequest'
type Layer = {
  name: string
  step: Step
  /** Those of high priority are outside of all that are there. */
  priority?: 'high' | 'low'
  /** Takes the place of one of the same name. */
  override?: boolean
}

export type Client = {
  service: Service
  /** What commands pass on their way: for whoever watches them, or gets into it. */
  middlewareStack: {
    add: (middleware: Middleware, layer: Layer) => void
    remove: (name: string) => void
  }
  layers: () => readonly (Layer & { middleware: Middleware })[]
}

export type Service = {
  /** Its name in signatures. */
  name: string
  endpoint: () => URL
  /** How often a command is sent at most: again where it is certain, or harmless, that it is. */
  attempts: number
  /** How long the service may be silent, in milliseconds. */
  silenceMs: number
}

/** One command of a service: how it is asked, and how its answer is read. */
export type Command<Input, Output> = {
  /** As the service's reference has it: `GetItem`. */
  name: string
  /** What a role must allow for it. */
  action: string
  request: (
    input: Input,
    endpoint: URL,
  ) => Pick<HttpRequest, 'method' | 'path' | 'body'> & Partial<HttpRequest>
  response: (response: HttpResponse) => Output | Promise<Output>
  /** Whether an answer is an error although its status says success. */
  isError?: (response: HttpResponse) => boolean
  /** The error that an answer of 300 and above tells. */
  error: (response: HttpResponse) => { code: string; message: string; details?: object }
}

export type Send<Input, Output> = (
  input: Input,
  options?: { abortSignal?: AbortSignal },
) => Promise<Output>

/** The status of an error that came with one of success. */
const UNAVAILABLE = 503

export const createClient = (service: Service): Client => {
  let layers: (Layer & { middleware: Middleware })[] = []
  const remove = (name: string) => {
    layers = layers.filter(layer => layer.name !== name)
  }
  const add = (middleware: Middleware, layer: Layer) => {
    if (layer.override) remove(layer.name)
    const added = { ...layer, middleware }
    layers = layer.priority === 'high' ? [added, ...layers] : [...layers, added]
  }
  return { service, middlewareStack: { add, remove }, layers: () => layers }
}

/** A function that sends a command, with its signature and as often as its service allows. */
export const sender =
  <Input extends object, Output extends object>(
    client: () => Client,
    command: Command<Input, Output>,
  ): Send<Input, Output> =>
  async (input, { abortSignal } = {}) => {
    const { service, layers } = client()
    const within = (step: Step, innermost: Handler): Handler =>
      layers()
        .filter(layer => layer.step === step)
        .reduceRight(
          (next, { middleware }) => middleware(next, { commandName: `${command.name}Command` }),
          innermost,
        )
    const once: Handler = async args => ({
      output: await attempt(service, command, args.input as Input, abortSignal),
    })
    const attempted = within('finalizeRequest', once)
    const { output } = await within('initialize', args =>
      repeatedly(() => attempted(args), { attempts: service.attempts, signal: abortSignal }),
    )({ input })
    return output as Output
  }

const attempt = async <Input, Output>(
  { name, endpoint, silenceMs }: Service,
  command: Command<Input, Output>,
  input: Input,
  signal: AbortSignal | undefined,
): Promise<Output> => {
  const url = endpoint()
  const request = await sign(name, requestTo(url, command.request(input, url)))
  // Outside of the signature: whatever is on the way may write into it.
  const headers = { ...request.headers, ...trace() }
  const response = await exchange({ ...request, headers }, { silenceMs, signal })
  const succeeded = response.status < 300
  if (succeeded && !command.isError?.(response)) return command.response(response)
  const status = succeeded ? UNAVAILABLE : response.status
  const requestId =
    response.headers['x-amzn-requestid'] ??
    response.headers['x-amzn-request-id'] ??
    response.headers['x-amz-request-id']
  throw new ServiceError({ ...command.error(response), status, requestId: requestId?.toString() })
}

/** A request to an endpoint, whole. */
export const requestTo = (
  { protocol, hostname, port, host }: URL,
  { headers, ...request }: Pick<HttpRequest, 'method' | 'path' | 'body'> & Partial<HttpRequest>,
): HttpRequest => ({
  protocol,
  hostname,
  ...(port === '' ? {} : { port: Number(port) }),
  query: {},
  ...request,
  headers: { host: request.hostname ?? host, ...headers },
})
