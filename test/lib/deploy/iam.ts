import type { Statement, Targets } from '../../../lib/deploy/permissions.ts'

/**
 * What someone asks AWS to do: one action on one resource, with the leading keys that it names, or
 * how the keys of the objects begin that it lists.
 */
export type Access = { action: string; resource: string; keys?: string[]; prefix?: string }

const PLACE = 'us-east-1:123456789012'

/** A deployment in an account of AWS's examples. */
export const targetsOf = (functionName: string): Targets => ({
  table: `arn:aws:dynamodb:${PLACE}:table/espalier`,
  bucket: 'arn:aws:s3:::espalier',
  stateMachine: `arn:aws:states:${PLACE}:stateMachine:espalier-test-workflow`,
  functions: `arn:aws:lambda:${PLACE}:function:espalier-test-`,
  identities: `arn:aws:ses:${PLACE}:identity/`,
  emailSender: 'notices@mail.example.org',
  logGroup: `arn:aws:logs:${PLACE}:log-group:/aws/lambda/espalier-test-${functionName}`,
  deadLetters: `arn:aws:sqs:${PLACE}:espalier-test-dead-letters`,
})

/** Whether one of the statements allows it all, as IAM decides: half of it from each is not enough. */
export const allows = (
  statements: Statement[],
  { action, resource, keys = [], prefix = '' }: Access,
): boolean =>
  statements.some(
    statement =>
      statement.actions.includes(action) &&
      statement.resources.some(pattern => isLike(pattern, resource)) &&
      (statement.conditions ?? []).every(({ test, variable, values }) => {
        if (test === 'StringLike' && variable === 's3:prefix')
          return values.some(pattern => isLike(pattern, prefix))
        if (test !== 'ForAllValues:StringLike' || variable !== 'dynamodb:LeadingKeys')
          throw new Error(`No idea what ${test} of ${variable} means.`)
        return keys.every(key => values.some(pattern => isLike(pattern, key)))
      }),
  )

const isLike = (pattern: string, text: string): boolean =>
  new RegExp(`^${pattern.split('*').map(literal).join('.*')}$`).test(text)

const literal = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
