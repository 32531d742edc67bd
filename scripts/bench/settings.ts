import { randomBytes } from 'node:crypto'
import { marshall } from '@aws-sdk/util-dynamodb'
import * as z from 'zod'
import { newId } from '../../lib/core/ids.ts'
import { parse } from '../../lib/data/item.ts'
import type { Found } from '../../lib/data/table.ts'
import { cascade, openSettings } from '../../lib/settings/cascade.ts'
import { KEY_BYTES } from '../../lib/settings/keyring.ts'
import { attributeOf, layerKey, ownersOf } from '../../lib/settings/layer.ts'
import { encrypt } from '../../lib/settings/secret.ts'
import { defineTool } from '../../lib/tool/define.ts'
import { setting } from '../../lib/tool/setting.ts'
import { median } from './process.ts'

const KEYS = 100
const PASSWORDS = 10

const tool = defineTool({
  name: 'settings_bench',
  description: 'Has many settings.',
  settings: Object.fromEntries(
    Array.from({ length: KEYS }, (_, index) => [
      `key_${index}`,
      index < PASSWORDS
        ? setting.password({ label: `Label ${index}` })
        : setting.text({ label: `Label ${index}`, default: 'by default' }),
    ]),
  ),
  operations: {
    go: { description: 'Go.', parameters: z.object({}), describe: () => 'Go', execute: () => 1 },
  },
})

const scope = { principalId: newId('user'), agentId: newId('agent') }

/** The rows of a tool's three layers, each parsed whenever it is asked for; every layer has all keys. */
const rowsInMemory = (): Found => {
  const updatedAt = new Date(0).toISOString()
  const items = new Map(
    ownersOf(scope).map(layer => {
      const entries = Object.entries(tool.settings).map(([key, { type }]) => {
        const value =
          type === 'password' ? encrypt('a secret', { layer, tool: tool.name, key }) : layer
        return [attributeOf(key), { value, updatedAt, updatedBy: 'bench' }]
      })
      return [layerKey(tool.name, layer).sk, marshall(Object.fromEntries(entries))]
    }),
  )
  return {
    get: (schema, { sk }) => {
      const item = items.get(sk)
      return item && parse(schema, item)
    },
  }
}

/** Milliseconds to resolve a tool's keys from three layers' rows, and to open its passwords as well. */
export const measureSettings = async ({ rounds, times }: { rounds: number; times: number }) => {
  process.env.ESPALIER_SETTINGS_KEYS ??= `v1:${randomBytes(KEY_BYTES).toString('base64')}`
  const found = rowsInMemory()
  const resolve = () => cascade(tool, found, scope)
  const sides = {
    resolve: { run: resolve, samples: [] as number[] },
    open: { run: () => openSettings(tool, resolve()), samples: [] as number[] },
  }
  for (let round = 0; round <= rounds; round++)
    for (const { run, samples } of Object.values(sides)) {
      const started = performance.now()
      for (let time = 0; time < times; time++) run()
      if (round > 0) samples.push((performance.now() - started) / times)
    }
  return {
    keys: KEYS,
    passwords: PASSWORDS,
    resolveMs: median(sides.resolve.samples),
    openMs: median(sides.open.samples),
  }
}
