import validate from 'asl-validator'
import { expect, it } from 'vitest'
import { prefixOf } from '../../../lib/deploy/names.ts'
import { definition } from '../../../lib/workflow/definition.ts'

const prefix = prefixOf({ name: 'espalier', stage: 'production' })
const arn = (name: string) => `arn:aws:lambda:eu-central-1:123456789012:function:${prefix}${name}`

it('is a state machine that AWS’s language allows, with the ARNs of a deployment', () => {
  const deployed = definition({ tick: arn('tick'), park: arn('park') })
  const { isValid, errorsText } = validate(deployed, { checkPaths: true, checkArn: true })
  expect(errorsText()).toBe('')
  expect(isValid).toBe(true)
})
