import { config } from '../core/config.ts'
import { invoke } from './lambda.ts'

/**
 * Has one of the deployment's own functions run, by its name without the deployment's prefix:
 * awaited, or as an event that it is handed later, at least once. Throws where it can't be reached.
 */
export const invokeFunction = (
  name: string,
  payload: object,
  how: 'awaited' | 'event',
): Promise<{ FunctionError?: string }> =>
  invoke({
    FunctionName: `${config('functionPrefix')}${name}`,
    InvocationType: how === 'event' ? 'Event' : 'RequestResponse',
    Payload: JSON.stringify(payload),
  })
