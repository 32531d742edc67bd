import * as z from 'zod'
import { AppError } from '../core/errors.ts'

/** Whether there are alarms, and who is told by e-mail. */
export type AlarmOptions = { on: boolean; email?: string; notice?: string }

/**
 * What ESPALIER_ALARMS and ESPALIER_ALARM_EMAIL ask for: production has alarms unless they are off,
 * other stages have them where they are on, since each costs. INVALID_DEFINITION says what is wrong.
 */
export const readAlarmOptions = (
  environment: Record<string, string | undefined>,
  { isProduction }: { isProduction: boolean },
): AlarmOptions => {
  const asked = environment.ESPALIER_ALARMS ?? ''
  const email = environment.ESPALIER_ALARM_EMAIL ?? ''
  if (!['', 'on', 'off'].includes(asked))
    throw refusal(`ESPALIER_ALARMS is "${asked}"; it must be "on" or "off".`)
  if (email !== '' && !z.email().safeParse(email).success)
    throw refusal(
      `ESPALIER_ALARM_EMAIL is "${email}"; it must be one address, such as operators@example.com.`,
    )
  const on = asked === '' ? isProduction : asked === 'on'
  if (on && email !== '') return { on, email }
  if (on)
    return {
      on,
      notice:
        'Nobody is told of alarms: set ESPALIER_ALARM_EMAIL, or subscribe to the topic of alarms by hand.',
    }
  return isProduction ? { on, notice: 'There are no alarms: ESPALIER_ALARMS is off.' } : { on }
}

const refusal = (message: string) => new AppError('INVALID_DEFINITION', message)
