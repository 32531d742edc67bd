// What AWS charges by its public lists, in dollars, without free tiers and discounts.

export const PRICES_REGION = 'us-east-1'
/** When the lists below were looked up. */
export const PRICES_AS_OF = '2026-11-30'

const MILLION = 1_000_000

/** On demand, for each unit: https://aws.amazon.com/dynamodb/pricing/on-demand/ */
export const DYNAMODB_READ_UNIT = 0.125 / MILLION
export const DYNAMODB_WRITE_UNIT = 0.625 / MILLION

/** Standard workflows: https://aws.amazon.com/step-functions/pricing/ */
export const STATE_TRANSITION = 0.025 / 1_000

/** The duration on arm64, which we deploy on: https://aws.amazon.com/lambda/pricing/ */
export const LAMBDA_REQUEST = 0.2 / MILLION
export const LAMBDA_GB_SECOND = 0.000_013_333_4

/** A PUT, the dearest; a GET costs a twelfth of it: https://aws.amazon.com/s3/pricing/ */
export const S3_REQUEST = 0.005 / 1_000

/** HTTP APIs, the first 300 million a month: https://aws.amazon.com/api-gateway/pricing/ */
export const API_REQUEST = 1 / MILLION

/** HTTPS requests from the United States, past the free ones: https://aws.amazon.com/cloudfront/pricing/ */
export const CLOUDFRONT_REQUEST = 0.01 / 10_000
export const CLOUDFRONT_FUNCTION_RUN = 0.1 / MILLION

/** Standard logs taken in: https://aws.amazon.com/cloudwatch/pricing/ */
export const LOG_GB = 0.5
/** A month, for each metric that a standard alarm names, and for each metric of one's own. */
export const ALARM_METRIC = 0.1
export const CUSTOM_METRIC = 0.3

/** Durable functions, beside Lambda's own prices: https://aws.amazon.com/lambda/pricing/ */
export const DURABLE_OPERATION = 8 / MILLION
export const DURABLE_GB_WRITTEN = 0.25
export const DURABLE_GB_MONTH_RETAINED = 0.15

/**
 * How long a durable execution is kept unless said otherwise:
 * https://docs.aws.amazon.com/lambda/latest/api/API_DurableConfig.html
 */
export const DURABLE_RETENTION_MONTHS = 14 / 30
