/** https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html: any input or result. */
export const MAX_DATA_BYTES = 256 * 1024
/** The same page: a request to the API. */
export const MAX_REQUEST_BYTES = 1024 * 1024
/** The same page: events in the history of one execution, which fails when they are used up. */
export const MAX_HISTORY_EVENTS = 25_000
/** The same page: the length of an execution's name. */
export const MAX_NAME_CHARS = 80
/** Past 2^31 - 1 ms, which is 24.8 days, a timer of Node fires at once. */
export const MAX_TIMER_SECONDS = 2_147_483

export const isTooLarge = (json: string): boolean => Buffer.byteLength(json) > MAX_DATA_BYTES
