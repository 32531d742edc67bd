import { Hono } from 'hono'
import { handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda'
import { createMiddleware } from 'hono/factory'
import { routePath } from 'hono/route'
import { errorFields, figures, log, withLogIds } from '../core/log.ts'
import { authenticate, type Caller, unauthenticated } from '../principal/caller.ts'
import { renderError, renderNotFound } from './error.ts'

export type Env = {
  Bindings: { event?: LambdaEvent; lambdaContext?: LambdaContext }
  Variables: { caller: Caller }
}

/** A Hono app as each resource has one: errors in the envelope, a log line for each request. */
export const createApp = () => {
  const app = new Hono<Env>()
  app.onError(renderError)
  app.notFound(renderNotFound)
  app.use(async (context, next) => {
    const requestId = context.env?.lambdaContext?.awsRequestId ?? crypto.randomUUID()
    await withLogIds({ requestId }, async () => {
      const started = performance.now()
      await next()
      log('info', 'request-handled', {
        method: context.req.method,
        // The pattern and never the URL: a public link's token is in its query.
        route: routePath(context, -1),
        status: context.res.status,
        milliseconds: Math.round(performance.now() - started),
        ...figures(),
        ...(context.error && context.res.status >= 500 ? errorFields(context.error) : {}),
      })
      context.header('x-request-id', requestId)
    })
  })
  return app
}

/** The app as a Lambda's handler, for events of an HTTP API. */
export const handlerOf = (app: Hono<Env>) => handle(app)

/** Lets only callers with a valid key through, and says who they are. */
export const authenticated = createMiddleware<Env>(async (context, next) => {
  context.set('caller', await authenticate(bearerToken(context.req.header('authorization'))))
  await next()
})

/** The key in an Authorization header, or UNAUTHENTICATED. */
export const bearerToken = (header: string | undefined): string => {
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1]
  if (token === undefined) throw unauthenticated()
  return token
}
