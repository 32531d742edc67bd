import { AppError } from '../core/errors.ts'

/** The region that the environment names. */
export const region = (): string =>
  environment(['AWS_REGION', 'AWS_DEFAULT_REGION'], 'the region, such as eu-central-1')

/** The keys that Lambda gives a function; AWS's other ways to get some are not looked for. */
export const credentials = () => {
  const how = 'on a machine of your own: eval "$(aws configure export-credentials --format env)"'
  return {
    accessKeyId: environment(['AWS_ACCESS_KEY_ID'], how),
    secretAccessKey: environment(['AWS_SECRET_ACCESS_KEY'], how),
    ...(process.env.AWS_SESSION_TOKEN ? { sessionToken: process.env.AWS_SESSION_TOKEN } : {}),
  }
}

/** The trace that a function's run is a part of, by which Lambda stops functions that call in a circle. */
export const trace = (): Record<string, string> => {
  const { AWS_LAMBDA_FUNCTION_NAME, _X_AMZN_TRACE_ID } = process.env
  if (!AWS_LAMBDA_FUNCTION_NAME || !_X_AMZN_TRACE_ID) return {}
  return { 'x-amzn-trace-id': _X_AMZN_TRACE_ID }
}

/** Where a service is reached: at `AWS_ENDPOINT_URL_<VARIABLE>`, or at AWS's own address. */
export const endpoint = (host: string, variable: string): URL =>
  new URL(process.env[`AWS_ENDPOINT_URL_${variable}`] || `https://${host}.${region()}.${suffix()}`)

/** China's regions have a domain of their own, and so have those of Europe's own cloud. */
const suffix = () => {
  if (region().startsWith('cn-')) return 'amazonaws.com.cn'
  return region().startsWith('eusc-') ? 'amazonaws.eu' : 'amazonaws.com'
}

const environment = (names: string[], how: string): string => {
  for (const name of names) {
    const value = process.env[name]
    if (value) return value
  }
  throw new AppError('NOT_CONFIGURED', `The environment variable ${names[0]} is not set; ${how}.`)
}
