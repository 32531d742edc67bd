import { readAlarmOptions } from './alarm-options.ts'
import { tickConcurrency } from './concurrency.ts'
import { NO_DOMAIN, readDomain } from './domain.ts'
import { stageOf } from './stage.ts'

/**
 * What a deploy's environment asks for, in an account that may run so many functions at once, and the
 * notices that follow from it, each by the name of the output that has it.
 */
export const optionsOf = (app: { stage: string }, quota: number | undefined) => {
  const { env } = process
  const { isProduction } = stageOf(app)
  const domain = readDomain(env)
  const alarms = readAlarmOptions(env, { isProduction })
  const { reserved: ticks, notice } = tickConcurrency({
    quota,
    asked: env.ESPALIER_TICK_CONCURRENCY,
    isProduction,
  })
  const notices = {
    ...(isProduction && domain === undefined ? { noticeOfDomain: NO_DOMAIN } : {}),
    ...(notice === undefined ? {} : { noticeOfTicks: notice }),
    ...(alarms.notice === undefined ? {} : { noticeOfAlarms: alarms.notice }),
  }
  return { domain, alarms, ticks, notices }
}
