import type { Context, ErrorHandler, NotFoundHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { AppError, ERROR_STATUS } from '../core/errors.ts'

/** Every error in the one envelope. What isn't ours says nothing of itself: it is in the log. */
export const renderError: ErrorHandler = (error, context) => {
  const known =
    error instanceof AppError
      ? error
      : new AppError('INTERNAL', 'Something went wrong on our side; the log has the request id.')
  return render(context, known)
}

export const renderNotFound: NotFoundHandler = context =>
  render(context, new AppError('NOT_FOUND', 'There is nothing at this path.'))

const render = (context: Context, error: AppError): Response => {
  const { code, message, details } = error
  sayWhenAgain(context, error)
  return context.json(
    { error: { code, message, ...(details === undefined ? {} : { details }) } },
    ERROR_STATUS[code] as ContentfulStatusCode,
  )
}

/** What tells when to try again, in a header as well. */
export const sayWhenAgain = (context: Context, { details }: AppError): void => {
  const { retry_after_seconds: seconds } = (details ?? {}) as { retry_after_seconds?: number }
  if (seconds !== undefined) context.header('retry-after', String(seconds))
}
