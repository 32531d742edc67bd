/** The stage that keeps its data whatever happens to the stack, and that has what costs. */
const PRODUCTION = 'production'

/** What differs between production and a personal stage, which costs next to nothing while idle. */
export const stageOf = ({ stage }: { stage: string }) => {
  const isProduction = stage === PRODUCTION
  return {
    isProduction,
    /** How long logs are kept: they cost by the gigabyte. */
    logRetention: isProduction ? '1 month' : '1 week',
  } as const
}

/**
 * How long objects that were deleted or written over are kept in production: as long as DynamoDB can
 * restore a table to any second, 35 days, so that both go back to one time.
 */
export const KEPT_VERSION_DAYS = 35
/** When an upload in parts is thrown away that nobody finished. */
export const UNFINISHED_UPLOAD_DAYS = 1

/**
 * What each route takes of requests, a second and at once, before API Gateway answers 429: so that a
 * flood doesn't become one of functions. One key may make 20 a second.
 */
export const ROUTE_REQUESTS_PER_SECOND = 200
export const ROUTE_REQUESTS_AT_ONCE = 400
