/** What Lambda's runtime for Node gives a handler as its second argument. */
export type LambdaContext = {
  awsRequestId: string
  functionName: string
  functionVersion: string
  invokedFunctionArn: string
  memoryLimitInMB: string
  logGroupName: string
  logStreamName: string
  callbackWaitsForEmptyEventLoop: boolean
  getRemainingTimeInMillis: () => number
}

type Run = { name: string; arn: string; memoryMb: number; requestId: string; deadline: number }

/** A context for one run; `deadline` is in milliseconds since 1970. */
export const lambdaContext = ({
  name,
  arn,
  memoryMb,
  requestId,
  deadline,
}: Run): LambdaContext => ({
  awsRequestId: requestId,
  functionName: name,
  functionVersion: '$LATEST',
  invokedFunctionArn: arn,
  memoryLimitInMB: String(memoryMb),
  logGroupName: `/aws/lambda/${name}`,
  logStreamName: 'local',
  callbackWaitsForEmptyEventLoop: true,
  getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
})
