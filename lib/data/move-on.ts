import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { updateItem } from '../aws/dynamodb.ts'
import { isAnswer } from '../aws/service-error.ts'
import { config } from '../core/config.ts'
import { despiteConflicts } from './conflict.ts'
import { collector, conditionOf, is, updateOf } from './expression.ts'
import { countUsage } from './usage.ts'
import { movedOn, pendingTakes, ROW_VERSION, versionMark } from './versions.ts'

/**
 * Writes an old row as the latest version has it: on condition that all that its steps have read is
 * still so. Whoever was faster has moved it on, or changed it, and is heard at the next attempt.
 */
export const moveOn = async (item: Record<string, AttributeValue>): Promise<void> => {
  const key = { pk: item.pk?.S ?? '', sk: item.sk?.S ?? '' }
  const before = unmarshall(item)
  const after = { ...movedOn(item), ...versionMark(key) }
  const read = [ROW_VERSION, ...pendingTakes(item)]
  const collect = collector()
  const request = {
    TableName: config('table'),
    Key: marshall(key),
    UpdateExpression: updateOf(
      {
        set: Object.fromEntries(
          Object.entries(after).filter(([name, value]) => value !== before[name]),
        ),
        remove: Object.keys(before).filter(name => !Object.hasOwn(after, name)),
      },
      collect,
    ),
    ConditionExpression: conditionOf(
      // A row that is gone lacks all that a step may have found missing: it is not to come back.
      {
        pk: is.present,
        ...Object.fromEntries(read.map(name => [name, before[name] ?? is.absent])),
      },
      collect,
    ),
    ...collect.attributes(),
    ReturnConsumedCapacity: 'TOTAL',
  } as const
  try {
    const response = await despiteConflicts(() => updateItem(request))
    countUsage('write', response.ConsumedCapacity)
  } catch (error) {
    if (!isAnswer(error, 'ConditionalCheckFailedException')) throw error
    countUsage('write', undefined)
  }
}
