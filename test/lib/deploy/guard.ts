import { AsyncLocalStorage } from 'node:async_hooks'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import { lambda } from '../../../lib/aws/lambda.ts'
import { s3 } from '../../../lib/aws/s3.ts'
import { stepFunctions } from '../../../lib/aws/step-functions.ts'
import type { Manifest } from '../../../lib/deploy/make-bundles.ts'
import { narrowed } from '../../../lib/deploy/narrow.ts'
import { permissionsOf } from '../../../lib/deploy/permissions.ts'
import type { FunctionSpec } from '../../../lib/http/route-table.ts'
import { type Access, allows, targetsOf } from './iam.ts'

type Input = Record<string, unknown>

const running = new AsyncLocalStorage<FunctionSpec>()

/** Does something as a function does it: under its role. */
export const actAs = <T>(spec: FunctionSpec, work: () => T): T => running.run(spec, work)

/**
 * Has every client of AWS ask the role of the function that runs, and refuse what it doesn't
 * allow: where there are bundles, no more than they are seen to ask for. Returns what was refused,
 * and by whom; what no function asks for is let through.
 */
export const guardClients = (bundles?: Manifest): { refused: string[]; asked: () => number } => {
  const refused: string[] = []
  let asked = 0
  const check = (command: string, input: Input) => {
    const spec = running.getStore()
    if (!spec) return
    asked += 1
    const targets = targetsOf(spec.name)
    const all = permissionsOf(spec, targets)
    const statements = bundles ? narrowed(all, bundles[spec.module]?.actions ?? []) : all
    for (const access of accessesOf(command, input)) {
      if (allows(statements, access)) continue
      refused.push(
        `${spec.name}: ${access.action} on ${access.resource} ${access.keys ?? access.prefix ?? ''}`,
      )
      throw new Error(`AccessDenied: ${refused.at(-1)}`)
    }
  }
  const guard =
    <Args extends { input: object }, Result>(
      next: (args: Args) => Promise<Result>,
      context: { commandName?: string },
    ) =>
    (args: Args): Promise<Result> => {
      check(context.commandName ?? '', args.input as Input)
      return next(args)
    }
  const options = { step: 'initialize', name: 'roleGuard' } as const
  dynamodb().middlewareStack.add(guard, options)
  s3().middlewareStack.add(guard, options)
  lambda().middlewareStack.add(guard, options)
  stepFunctions().middlewareStack.add(guard, options)
  return { refused, asked: () => asked }
}

const { table, bucket, stateMachine, functions } = targetsOf('')

const accessesOf = (command: string, input: Input): Access[] => {
  switch (command) {
    case 'GetItemCommand':
    case 'PutItemCommand':
    case 'UpdateItemCommand':
    case 'DeleteItemCommand':
      return [itemAccess(command.slice(0, -'Command'.length), input)]
    case 'BatchGetItemCommand': {
      const requests = Object.values(input.RequestItems as Record<string, { Keys: Key[] }>)
      const keys = requests.flatMap(({ Keys }) => Keys.map(key => key.pk.S))
      return [{ action: 'dynamodb:BatchGetItem', resource: table, keys }]
    }
    case 'TransactWriteItemsCommand':
      return (input.TransactItems as Record<string, Input>[]).flatMap(item =>
        Object.entries(item).map(([kind, write]) =>
          itemAccess(kind === 'ConditionCheck' ? 'ConditionCheckItem' : `${kind}Item`, write),
        ),
      )
    case 'QueryCommand':
      return [queryAccess(input)]
    case 'GetObjectCommand':
    case 'PutObjectCommand':
      return [
        {
          action: `s3:${command.slice(0, -'Command'.length)}`,
          resource: `${bucket}/${input.Key}`,
        },
      ]
    case 'ListObjectsV2Command':
      return [{ action: 's3:ListBucket', resource: bucket, prefix: String(input.Prefix) }]
    case 'DeleteObjectsCommand':
      return (input.Keys as string[]).map(key => ({
        action: 's3:DeleteObject',
        resource: `${bucket}/${key}`,
      }))
    case 'InvokeCommand': {
      const name = String(input.FunctionName).replace('espalier-local-', '')
      return [{ action: 'lambda:InvokeFunction', resource: functions + name }]
    }
    case 'StartExecutionCommand':
      return [{ action: 'states:StartExecution', resource: stateMachine }]
    case 'DescribeExecutionCommand': {
      const name = String(input.executionArn).split(':').at(-1)
      const executions = stateMachine.replace(':stateMachine:', ':execution:')
      return [{ action: 'states:DescribeExecution', resource: `${executions}:${name}` }]
    }
    case 'SendTaskSuccessCommand':
      return [{ action: 'states:SendTaskSuccess', resource: '*' }]
    default:
      throw new Error(`No idea which permission ${command} needs.`)
  }
}

type Key = { pk: { S: string } }

const itemAccess = (action: string, input: Input): Access => {
  const key = (input.Key ?? input.Item) as Key
  return { action: `dynamodb:${action}`, resource: table, keys: [key.pk.S] }
}

/** The leading key of a query is the value that its first condition compares with. */
const queryAccess = (input: Input): Access => {
  const [, placeholder = ''] = /= (:\w+)/.exec(String(input.KeyConditionExpression)) ?? []
  const value = (input.ExpressionAttributeValues as Record<string, { S: string }>)[placeholder]
  return {
    action: 'dynamodb:Query',
    resource: input.IndexName ? `${table}/index/${input.IndexName}` : table,
    keys: value ? [value.S] : [],
  }
}
