import { LAMBDA } from '../synth/find.ts'
import { add, type Fault, find } from './spoil.ts'

export const FUNCTION_FAULTS: Fault[] = [
  [
    'a function that is gone',
    synthesis => {
      const gone = find(synthesis, LAMBDA, 'ParkFunction')
      synthesis.resources = synthesis.resources.filter(each => each !== gone)
    },
    'The function "espalier-ada-park" is missing',
  ],
  [
    'a function that nobody asked for',
    synthesis =>
      synthesis.resources.push({
        ...find(synthesis, LAMBDA),
        inputs: { ...find(synthesis, LAMBDA).inputs, name: 'another' },
      }),
    'The function "another" is not asked for',
  ],
  [
    'another processor',
    synthesis => {
      find(synthesis, LAMBDA).inputs.architectures = ['x86_64']
    },
    'is ["x86_64"], not ["arm64"]',
  ],
  [
    'an older runtime',
    synthesis => {
      find(synthesis, LAMBDA).inputs.runtime = 'nodejs20.x'
    },
    'is "nodejs20.x"',
  ],
  [
    'a shared role',
    synthesis => {
      find(synthesis, LAMBDA, 'ParkFunction').inputs.role = find(
        synthesis,
        LAMBDA,
        'TickFunction',
      ).inputs.role
    },
    'The function espalier-ada-park shares its role',
  ],
  [
    'logs that are kept for ever',
    synthesis => {
      delete find(synthesis, 'aws:cloudwatch/logGroup:LogGroup', 'TickLogGroup').inputs
        .retentionInDays
    },
    'The log retention of espalier-ada-tick',
  ],
  [
    'an environment that is too large',
    synthesis => {
      find(synthesis, LAMBDA, 'TickFunction').inputs.environment = {
        variables: { BIG: 'x'.repeat(4_094) },
      }
    },
    'The environment of espalier-ada-tick has 4097 bytes',
  ],
  [
    'a route that leads elsewhere',
    synthesis => {
      find(synthesis, 'aws:apigatewayv2/integration:Integration').inputs.integrationUri =
        'arn:other'
    },
    'unknown arn:other',
  ],
  [
    'a stream that is answered whole',
    synthesis => {
      find(synthesis, 'aws:lambda/functionUrl:FunctionUrl').inputs.invokeMode = 'BUFFERED'
    },
    'The way that espalier-ada-admin-task-stream sends is "BUFFERED"',
  ],
  [
    'a sweeper that sleeps',
    synthesis => {
      find(synthesis, 'aws:scheduler/schedule:Schedule').inputs.state = 'DISABLED'
    },
    'The schedule "rate(1 minute) DISABLED',
  ],
  [
    'what costs by the hour',
    synthesis => add(synthesis, 'aws:ec2/natGateway:NatGateway', {}),
    'is a aws:ec2/natGateway:NatGateway, which may cost while it is idle',
  ],
]
