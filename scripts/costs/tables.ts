import { alarmsOf, LOG_LINES } from '../../lib/deploy/alarms.ts'
import * as prices from '../bench/tasks/prices.ts'
import { type Bill, billOf, SERVICES, sumOf, totalOf } from './bill.ts'
import { COUNTS, type Counts } from './counts.ts'

const MINUTES_PER_MONTH = 30 * 24 * 60
const TASKS = 1_000
/** The account's room for functions: one alarm asks for it. */
const QUOTA = 1_000

/** What is billed each month whether or not anyone does anything. */
export const idleBill = ({ alarms }: { alarms: boolean }): Bill => {
  const bill = billOf(sumOf([[MINUTES_PER_MONTH, COUNTS.sweep]]))
  const metrics = alarmsOf({ quota: QUOTA }).reduce((sum, alarm) => sum + alarm.metrics.length, 0)
  const watching = metrics * prices.ALARM_METRIC + LOG_LINES.length * prices.CUSTOM_METRIC
  return { ...bill, CloudWatch: bill.CloudWatch + (alarms ? watching : 0) }
}

const { task, step, approval, child } = COUNTS

/** Kinds of tasks, and what one of each uses. */
export const KINDS: readonly [name: string, uses: Counts][] = [
  [
    '1 step',
    sumOf([
      [1, task],
      [1, step],
    ]),
  ],
  [
    '5 steps',
    sumOf([
      [1, task],
      [5, step],
    ]),
  ],
  [
    '20 steps',
    sumOf([
      [1, task],
      [20, step],
    ]),
  ],
  [
    '5 steps, 1 approval',
    sumOf([
      [1, task],
      [5, step],
      [1, approval],
    ]),
  ],
  [
    '5 steps, 4 sub-agents of 5 steps',
    sumOf([
      [1, task],
      [25, step],
      [4, child],
    ]),
  ],
]

/** The tables of docs/deploying.md, in Markdown. */
export const costTables = (): string =>
  [
    tableOf('Idle, a month', [
      ['a personal stage', idleBill({ alarms: false })],
      ['production, with its alarms', idleBill({ alarms: true })],
    ]),
    tableOf(
      `${TASKS.toLocaleString('en-US')} tasks of`,
      KINDS.map(([name, uses]) => [name, billOf(sumOf([[TASKS, uses]]))]),
    ),
  ].join('\n\n')

const tableOf = (heading: string, rows: [name: string, bill: Bill][]): string => {
  const cells = [
    [heading, ...SERVICES, 'together'],
    ...rows.map(([name, bill]) => [
      name,
      ...SERVICES.map(service => dollars(bill[service])),
      dollars(totalOf(bill)),
    ]),
  ]
  const widths = cells[0]?.map((_, column) =>
    Math.max(...cells.map(row => row[column]?.length ?? 0)),
  )
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = cells
  const rule = line(head.map((_, column) => '-'.repeat(widths?.[column] ?? 0)))
  return [line(head), rule, ...body.map(line)].join('\n')
}

const dollars = (amount: number): string => `$${amount.toFixed(2)}`
