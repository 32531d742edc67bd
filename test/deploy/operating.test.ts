import { beforeAll, describe, expect, it } from 'vitest'
import { routeTable } from '../../functions/routes.ts'
import { alarmsOf, LOG_LINES } from '../../lib/deploy/alarms.ts'
import { eventRulesOf } from '../../lib/deploy/dead-letters.ts'
import { SECRETS, type Stage, synthesisOf } from './stages.ts'
import { all, lambdas, one } from './synth/find.ts'
import type { Synthesis } from './synth/synthesis.ts'
import { synthesize } from './synth/synthesize.ts'

const ALARM = 'aws:cloudwatch/metricAlarm:MetricAlarm'
const EVENTS = 'aws:lambda/functionEventInvokeConfig:FunctionEventInvokeConfig'
const { functions } = await routeTable()
let syntheses: Record<Stage, Synthesis>
beforeAll(async () => {
  const [production, personal, dev] = await Promise.all(
    (['production', 'personal', 'dev'] as const).map(synthesisOf),
  )
  if (production && personal && dev) syntheses = { production, personal, dev }
})

describe('in production', () => {
  it('each alarm tells the topic, of a metric that some resource of the deployment has', () => {
    const synthesis = syntheses.production
    const topic = one(synthesis, 'aws:sns/topic:Topic').state.arn
    const alarms = all(synthesis, ALARM)
    expect(alarms.map(({ inputs }) => inputs.name).toSorted()).toEqual(
      alarmsOf({ quota: 1_000 })
        .map(({ name }) => `espalier-production-${name}`)
        .toSorted(),
    )
    const names = lambdas(synthesis).map(({ name }) => name)
    for (const { inputs } of alarms) {
      expect(inputs).toMatchObject({ alarmActions: [topic], okActions: [topic] })
      const watched = [...JSON.stringify(inputs).matchAll(/"FunctionName":"([^"]+)"/g)]
      for (const [, name] of watched) expect(names).toContain(name)
    }
  })

  it('lines of the log are counted where the function writes them', () => {
    const filters = all(syntheses.production, 'aws:cloudwatch/logMetricFilter:LogMetricFilter')
    expect(filters.map(({ inputs }) => [inputs.pattern, inputs.logGroupName])).toEqual(
      LOG_LINES.map(({ event, functionName }) => [
        expect.stringContaining(event),
        expect.stringMatching(new RegExp(`^/aws/lambda/espalier-production-${functionName}$`)),
      ]),
    )
  })
})

it('a personal stage has no alarm', () => {
  expect(all(syntheses.personal, ALARM)).toEqual([])
})

it.each(['production', 'personal'] as const)(
  'what a function gives up of its events is put among the dead letters: %s',
  stage => {
    const synthesis = syntheses[stage]
    const queue = one(synthesis, 'aws:sqs/queue:Queue', 'DeadLettersQueue')
    const rules = functions.flatMap(spec => {
      const events = eventRulesOf(spec)
      return events ? [{ name: spec.name, ...events }] : []
    })
    const made = all(synthesis, EVENTS).map(({ inputs }) => ({
      name: String(inputs.functionName).replace(/^.*espalier-\w+-/, ''),
      retries: inputs.maximumRetryAttempts,
      maxAgeSeconds: inputs.maximumEventAgeInSeconds,
      onFailure: inputs.destinationConfig,
    }))
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
    expect(made.toSorted(byName)).toEqual(
      rules
        .map(rule => ({
          ...rule,
          onFailure: { onFailure: { destination: queue.state.arn } },
        }))
        .toSorted(byName),
    )
    expect(queue.inputs).toMatchObject({ messageRetentionSeconds: 14 * 86_400 })
  },
)

it('a domain is the address that people and functions are told, with its certificate and records', async () => {
  const secrets = { SettingsKeys: SECRETS.SettingsKeys, LinkKeys: SECRETS.LinkKeys }
  const environment = { ESPALIER_DOMAIN: 'tools.example.com' }
  const synthesis = await synthesize({ stage: 'production', secrets, environment })
  expect(synthesis.errors).toEqual([])
  expect(synthesis.outputs).toMatchObject({ api: 'https://tools.example.com' })
  expect(synthesis.outputs).not.toHaveProperty('noticeOfDomain')
  expect(one(synthesis, 'aws:acm/certificate:Certificate').inputs).toMatchObject({
    domainName: 'tools.example.com',
    validationMethod: 'DNS',
  })
  const records = all(synthesis, 'aws:route53/record:Record').map(({ inputs }) => [
    inputs.type,
    inputs.name,
  ])
  expect(records.toSorted()).toEqual([
    ['A', 'tools.example.com'],
    ['AAAA', 'tools.example.com'],
    ['CNAME', '_proof.tools.example.com.'],
  ])
  const told = lambdas(synthesis).flatMap(
    ({ environment: { variables } }) => variables.ESPALIER_PUBLIC_URL ?? [],
  )
  expect([...new Set(told)]).toEqual(['https://tools.example.com'])
})
