import { Hono } from 'hono'
import { handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda'
import { routePath } from 'hono/route'
import { endInvocation, errorFields, figures, log, withLogIds } from '../core/log.ts'
import { fitting } from './answer-size.ts'
import type { Endpoints } from './endpoint.ts'
import { renderError, renderNotFound } from './error.ts'

export type Env = {
  Bindings: { event?: LambdaEvent; lambdaContext?: LambdaContext }
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
      await endInvocation()
    })
  })
  return app
}

/** The app of a resource's endpoints. */
export const appOf = (endpoints: Endpoints) => {
  const app = createApp()
  for (const { method, path, answer } of Object.values(endpoints))
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), answer)
  return app
}

/** The app as a Lambda's handler, for events of an HTTP API. */
export const handlerOf = (app: Hono<Env>) => {
  const answer = handle(app)
  return async (event: LambdaEvent, context?: LambdaContext) =>
    fitting(await answer(event, context))
}
