import { arnOf, drawn, REGION } from './account.ts'

type Registered = { type: string; name: string; inputs: Record<string, unknown> }
type Made = { id: string; outputs: Record<string, unknown> }

/** What AWS would say of a resource that it has just made. */
export const make = ({ type, name, inputs }: Registered): Made => {
  // Pulumi ends a name that the program leaves to it in random letters.
  const physical = String(
    inputs.name ?? inputs.bucket ?? inputs.identifier ?? `${name}-${drawn(type + name, 7)}`,
  )
  const maker = name.endsWith(ZONE_LOOKUP) ? findZone : MAKERS[type]
  if (maker) return maker({ name, inputs, physical })
  if (!type.startsWith('aws:')) return { id: physical, outputs: {} }
  throw new Error(
    `The config makes "${name}" of the type ${type}, which test/deploy/synth/outputs.ts doesn't know.`,
  )
}

type Maker = (made: { name: string; inputs: Record<string, unknown>; physical: string }) => Made

/** A resource whose ARN ends in its name, after these words. */
const named =
  (service: string, words: string, place: { region?: string; account?: string } = {}): Maker =>
  ({ physical }) => ({
    id: physical,
    outputs: { name: physical, arn: arnOf(service, words + physical, place) },
  })

/** A resource that has an id of AWS's own choice, and nothing else that others ask for. */
const numbered: Maker = ({ name }) => ({ id: drawn(name), outputs: {} })

/** A distribution's neighbours, which belong to no region. */
const global = (words: string): Maker => {
  return ({ name }) => ({
    id: drawn(name),
    outputs: { arn: arnOf('cloudfront', words + drawn(name), { region: '' }), etag: 'E1' },
  })
}

const makeFunction: Maker = ({ physical, inputs }) => {
  const arn = arnOf('lambda', `function:${physical}`)
  const uri = (version: string, verb: string) =>
    `arn:aws:apigateway:${REGION}:lambda:path/${version}/functions/${arn}/${verb}`
  return {
    id: physical,
    outputs: {
      name: physical,
      arn,
      version: '$LATEST',
      publish: inputs.publish ?? false,
      qualifiedArn: `${arn}:$LATEST`,
      invokeArn: uri('2015-03-31', 'invocations'),
      responseStreamingInvokeArn: uri('2021-11-15', 'response-streaming-invocations'),
    },
  }
}

const makeApi: Maker = ({ name }) => {
  const id = drawn(name)
  return {
    id,
    outputs: {
      arn: `arn:aws:apigateway:${REGION}::/apis/${id}`,
      apiEndpoint: `https://${id}.execute-api.${REGION}.amazonaws.com`,
      executionArn: arnOf('execute-api', id),
    },
  }
}

const makeBucket: Maker = ({ physical }) => ({
  id: physical,
  outputs: {
    bucket: physical,
    arn: arnOf('s3', `::${physical}`, { region: '', account: '' }).replace(':::::', ':::'),
    region: REGION,
    bucketDomainName: `${physical}.s3.amazonaws.com`,
    bucketRegionalDomainName: `${physical}.s3.${REGION}.amazonaws.com`,
  },
})

const makeQueue: Maker = ({ physical }) => {
  const url = `https://sqs.${REGION}.amazonaws.com/${physical}`
  return { id: url, outputs: { name: physical, url, arn: arnOf('sqs', physical) } }
}

/** SST's own, which asks the account for the zone of a domain. */
const ZONE_LOOKUP = '.sst.aws.HostedZoneLookup'
const findZone: Maker = ({ name }) => ({ id: name, outputs: { zoneId: 'Z0EXAMPLE' } })

/** A certificate, with the record by which AWS sees whose the domain is. */
const makeCertificate: Maker = ({ name, inputs }) => ({
  id: drawn(name),
  outputs: {
    arn: arnOf('acm', `certificate/${drawn(name)}`, { region: 'us-east-1' }),
    domainValidationOptions: [
      {
        domainName: inputs.domainName,
        resourceRecordName: `_proof.${inputs.domainName}.`,
        resourceRecordType: 'CNAME',
        resourceRecordValue: '_proof.acm-validations.aws.',
      },
    ],
  },
})

const makeDistribution: Maker = ({ name }) => ({
  id: drawn(name).toUpperCase(),
  outputs: {
    arn: arnOf('cloudfront', `distribution/${drawn(name).toUpperCase()}`, { region: '' }),
    domainName: `${drawn(name)}.cloudfront.net`,
    hostedZoneId: 'Z2FDTNDATAQYW2',
  },
})

const makeFunctionUrl: Maker = ({ name }) => ({
  id: drawn(name),
  outputs: {
    urlId: drawn(name),
    functionUrl: `https://${drawn(name)}.lambda-url.${REGION}.on.aws/`,
  },
})

const MAKERS: Record<string, Maker> = {
  'aws:acm/certificate:Certificate': makeCertificate,
  'aws:acm/certificateValidation:CertificateValidation': ({ name, inputs }) => ({
    id: drawn(name),
    outputs: { certificateArn: inputs.certificateArn },
  }),
  'aws:apigatewayv2/api:Api': makeApi,
  'aws:apigatewayv2/integration:Integration': numbered,
  'aws:apigatewayv2/route:Route': numbered,
  'aws:apigatewayv2/stage:Stage': numbered,
  'aws:cloudfront/cachePolicy:CachePolicy': global('cache-policy/'),
  'aws:cloudfront/distribution:Distribution': makeDistribution,
  'aws:cloudfront/function:Function': global('function/'),
  'aws:cloudfront/keyValueStore:KeyValueStore': global('key-value-store/'),
  'aws:cloudfront/originAccessControl:OriginAccessControl': global('origin-access-control/'),
  'aws:cloudwatch/logGroup:LogGroup': named('logs', 'log-group:'),
  'aws:cloudwatch/logMetricFilter:LogMetricFilter': numbered,
  'aws:cloudwatch/metricAlarm:MetricAlarm': named('cloudwatch', 'alarm:'),
  'aws:dynamodb/table:Table': named('dynamodb', 'table/'),
  'aws:iam/role:Role': named('iam', 'role/', { region: '' }),
  'aws:lambda/function:Function': makeFunction,
  'aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig': numbered,
  'aws:lambda/functionUrl:FunctionUrl': makeFunctionUrl,
  'aws:lambda/permission:Permission': numbered,
  'aws:route53/record:Record': numbered,
  'aws:s3/bucket:Bucket': makeBucket,
  'aws:s3/bucketCorsConfiguration:BucketCorsConfiguration': numbered,
  'aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration': numbered,
  'aws:s3/bucketObjectv2:BucketObjectv2': numbered,
  'aws:s3/bucketPolicy:BucketPolicy': numbered,
  'aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock': numbered,
  'aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration':
    numbered,
  'aws:s3/bucketVersioning:BucketVersioning': numbered,
  'aws:scheduler/schedule:Schedule': named('scheduler', 'schedule/default/'),
  'aws:sfn/stateMachine:StateMachine': named('states', 'stateMachine:'),
  'aws:sns/topic:Topic': named('sns', ''),
  'aws:sns/topicSubscription:TopicSubscription': numbered,
  'aws:sqs/queue:Queue': makeQueue,
  'aws:sqs/queuePolicy:QueuePolicy': numbered,
  'random:index/randomBytes:RandomBytes': ({ name, inputs }) => {
    const bytes = Buffer.alloc(Number(inputs.length), drawn(name, 64), 'hex')
    return {
      id: drawn(name),
      outputs: { base64: bytes.toString('base64'), hex: bytes.toString('hex') },
    }
  },
}
