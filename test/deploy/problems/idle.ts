import type { Synthesis } from '../synth/synthesis.ts'

/** What a stage may have that nobody uses just now, and what AWS takes for it then. */
const IDLE: Record<string, string> = {
  'aws:apigatewayv2/api:Api': 'by the request',
  'aws:apigatewayv2/integration:Integration': 'nothing',
  'aws:apigatewayv2/route:Route': 'nothing',
  'aws:apigatewayv2/stage:Stage': 'nothing',
  'aws:cloudfront/cachePolicy:CachePolicy': 'nothing',
  'aws:cloudfront/distribution:Distribution': 'by the request and the byte',
  'aws:cloudfront/function:Function': 'by the request',
  'aws:cloudfront/keyValueStore:KeyValueStore': 'by the read',
  'aws:cloudwatch/logGroup:LogGroup': 'by the byte written and kept, for a month',
  'aws:dynamodb/table:Table': 'by the request and the byte kept, on demand',
  'aws:iam/role:Role': 'nothing',
  'aws:lambda/function:Function': 'by the request and the second',
  'aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig': 'nothing',
  'aws:lambda/functionUrl:FunctionUrl': 'nothing',
  'aws:lambda/permission:Permission': 'nothing',
  'aws:s3/bucket:Bucket': 'by the request and the byte kept',
  'aws:s3/bucketCorsConfiguration:BucketCorsConfiguration': 'nothing',
  'aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration': 'nothing',
  'aws:s3/bucketObjectv2:BucketObjectv2': 'by the byte kept: the code of functions',
  'aws:s3/bucketPolicy:BucketPolicy': 'nothing',
  'aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock': 'nothing',
  'aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration':
    'nothing',
  'aws:scheduler/schedule:Schedule': 'by the run: the sweeper’s, within what is free',
  'aws:sfn/stateMachine:StateMachine': 'by the transition',
  'aws:sqs/queue:Queue': 'by the request',
  'aws:sqs/queuePolicy:QueuePolicy': 'nothing',
}

/** What in a stage might cost while nobody uses it. */
export const idleProblems = ({ resources }: Synthesis): string[] =>
  resources
    .filter(({ type }) => type.startsWith('aws:') && IDLE[type] === undefined)
    .map(({ type, name }) => `${name} is a ${type}, which may cost while it is idle`)
