import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { dynamodb } from '../../../lib/aws/dynamodb.ts'
import { newId } from '../../../lib/core/ids.ts'
import { scan } from '../../../lib/data/scan.ts'
import * as table from '../../../lib/data/table.ts'
import { placeOf } from '../../../lib/llm/configuration-key.ts'
import { openDataDirectory } from '../../../lib/local/data-directory.ts'
import { cascade, cascadeKeys, openSettings, type Scope } from '../../../lib/settings/cascade.ts'
import { attributeOf, layerKey, ownerOf } from '../../../lib/settings/layer.ts'
import { rotate, settingsSource, survey } from '../../../lib/settings/rotate.ts'
import { decrypt, encrypt } from '../../../lib/settings/secret.ts'
import { readLayer, writeLayer } from '../../../lib/settings/write.ts'
import { useLocalTable } from '../../local-table.ts'
import { tool } from './tool.ts'

useLocalTable()

const ROOT = path.join(import.meta.dirname, '../../..')
const ring = (version: string) => `${version}:${randomBytes(32).toString('base64')}`
const [old, current] = [ring('v1'), ring('v2')]
const sources = [settingsSource((name, key) => name === 'mail' && key === 'token')]
const readAgents = async () => new Map()

const useKeys = (...keys: string[]) => vi.stubEnv('ESPALIER_SETTINGS_KEYS', keys.join(','))
const write = (scope: Scope, changes: Record<string, unknown>) =>
  writeLayer(tool, scope, changes, { by: 'user_1', readAgents })

const open = async (scope: Scope) => {
  const found = await table.batchGet(cascadeKeys(tool.name, scope))
  return openSettings(tool, cascade(tool, found, scope))
}
const read = async (key: table.Key) =>
  (await table.get(z.record(z.string(), z.unknown()), key)) ?? {}
const stored = async (scope: Scope) =>
  (await readLayer(tool.name, scope)).entries.token?.value as string

const COUNT = 5
let scopes: Required<Scope>[]

beforeEach(async () => {
  for await (const rows of scan(['settings#', 'audit#'], 100))
    for (const { pk, sk } of rows) await table.remove({ pk, sk })
  useKeys(old)
  scopes = Array.from({ length: COUNT }, () => ({
    principalId: newId('user'),
    agentId: newId('agent'),
  }))
  for (const [index, scope] of scopes.entries())
    await write(scope, {
      token: `secret-${index}`,
      sender: 'v1.looks-like-one-and-is-none-0123456789abcdef',
    })
  useKeys(current, old)
})
afterEach(() => vi.unstubAllEnvs())

const expectRotated = async () => {
  for (const [index, scope] of scopes.entries()) {
    expect(await stored(scope)).toMatch(/^v2\./)
    expect((await open(scope)).values.token).toBe(`secret-${index}`)
  }
}

describe('a rotation', () => {
  it('encrypts every password anew, and nothing else changes', async () => {
    const before = await Promise.all(scopes.map(scope => readLayer(tool.name, scope)))
    expect(await rotate(sources)).toEqual({ rows: COUNT, reencrypted: COUNT })
    await expectRotated()
    for (const [index, scope] of scopes.entries()) {
      const after = await readLayer(tool.name, scope)
      const { token } = after.entries
      expect(after).toEqual({
        ...before[index],
        entries: {
          ...before[index]?.entries,
          token: { ...before[index]?.entries.token, value: token?.value },
        },
      })
    }
  })

  it('done again changes nothing', async () => {
    await rotate(sources)
    const before = await Promise.all(scopes.map(stored))
    expect(await rotate(sources)).toEqual({ rows: COUNT, reencrypted: 0 })
    expect(await Promise.all(scopes.map(stored))).toEqual(before)
  })

  it('looks at no more rows at once than it is told', async () => {
    const pages: number[] = []
    await rotate(sources, { pageRows: 2, onPage: ({ rows }) => pages.push(rows) })
    expect(pages.length).toBeGreaterThan(2)
    expect(pages.every((rows, index) => rows - (pages[index - 1] ?? 0) <= 2)).toBe(true)
    await expectRotated()
  })

  it('goes on after a crash before or after any of its requests', async () => {
    for (let at = 1; ; at++) {
      const crash = crashAt(at)
      const ended = await rotate(sources, { pageRows: 2 }).then(
        () => true,
        () => false,
      )
      crash.remove()
      if (ended) break
    }
    await expectRotated()
    expect((await survey(sources)).byVersion).toEqual({ v2: COUNT, v1: 0 })
  })

  it('leaves a password to whoever changes it at the same time', async () => {
    const [scope] = scopes
    if (!scope) throw new Error('There is no scope.')
    // Between the scan and the first write, an operator enters another.
    const remove = onFirst('UpdateItemCommand', async () => {
      await write(scope, { token: 'of the operator' })
      await write({ ...scopes[1] }, { token: null })
    })
    await rotate(sources)
    remove()
    expect((await open(scope)).values.token).toBe('of the operator')
    expect((await readLayer(tool.name, scopes[1] ?? {})).entries.token).toBeUndefined()
  })

  it('keeps what approvals are bound to, also once the old version is gone', async () => {
    const [scope = {}] = scopes
    useKeys(old)
    const { fingerprint } = await open(scope)
    useKeys(current, old)
    expect((await open(scope)).fingerprint).toBe(fingerprint)
    await rotate(sources)
    expect((await open(scope)).fingerprint).toBe(fingerprint)
    useKeys(current, old.replace('v1:', 'lasting:'))
    expect((await open(scope)).fingerprint).toBe(fingerprint)
  })

  it('says what is left, and where what no key opens is', async () => {
    expect(await survey(sources)).toEqual({ byVersion: { v2: 0, v1: COUNT }, unreadable: [] })
    const [scope = {}, other = {}] = scopes
    // Moved here from elsewhere, it opens nowhere.
    const moved = {
      value: await stored(other),
      updatedAt: new Date(0).toISOString(),
      updatedBy: 'x',
    }
    await table.update(z.unknown(), layerKey('mail', ownerOf(scope)), {
      set: { [attributeOf('token')]: moved },
    })
    await rotate(sources)
    expect(await survey(sources)).toEqual({
      byVersion: { v2: COUNT - 1, v1: 0 },
      unreadable: [{ layer: ownerOf(scope), tool: 'mail', key: 'token' }],
    })
  })

  it('also encrypts anew what a tool that is gone has left', async () => {
    await rotate([settingsSource(() => false)])
    await expectRotated()
  })
})

describe('npm run rotate-keys', () => {
  const run = () =>
    promisify(execFile)(process.execPath, [path.join(ROOT, 'scripts/rotate-keys.ts')], {
      env: process.env,
    }).then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      error => ({ code: error.code, output: error.stdout + error.stderr }),
    )

  it('rotates, says that the old version may go, and shows no secret', async () => {
    // The real tools know no such tool: what opens is rotated all the same.
    const { code, output } = await run()
    expect(code).toBe(0)
    expect(output).toContain(`${COUNT} of ${COUNT} encrypted values are now of the version "v2".`)
    expect(output).toMatch(/"v1" encrypts nothing any more.*lasting/s)
    for (const secret of ['secret-', old.slice(3), current.slice(3)])
      expect(output).not.toContain(secret)
    await expectRotated()
  })

  it('has nothing to do with one version, and says how to begin', async () => {
    useKeys(old)
    const { code, output } = await run()
    expect(code).toBe(0)
    expect(output).toContain('There is one version, "v1"')
  })

  it('rotates the keys of LLM configurations, and names what no key opens', async () => {
    const row = (id: string, apiKey: string) =>
      table.update(
        z.unknown(),
        { pk: id, sk: 'llm-configuration' },
        { set: { id, owner: 'global', apiKey } },
        { create: true },
      )
    const [good, bad] = [newId('llm'), newId('llm')]
    useKeys(old)
    await row(good, encrypt('model-key', placeOf({ id: good, owner: 'global' })))
    await row(bad, encrypt('model-key', placeOf({ id: good, owner: 'global' })))
    useKeys(current, old)
    const { code, output } = await run()
    expect(code).toBe(1)
    expect(output).toContain(`No key opens "${bad}" of llm-configuration at global`)
    const { apiKey } = await read({ pk: good, sk: 'llm-configuration' })
    expect(apiKey).toMatch(/^v2\./)
    expect(decrypt(String(apiKey), placeOf({ id: good, owner: 'global' }))).toBe('model-key')
    for (const id of [good, bad]) await table.remove({ pk: id, sk: 'llm-configuration' })
  })

  it('rotates a local installation that is stopped', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'espalier-rotate-'))
    const data = await openDataDirectory(directory)
    await data.release()
    vi.stubEnv('ESPALIER_TABLE', '')
    vi.stubEnv('ESPALIER_DATA', directory)
    const { code, output } = await run()
    await rm(directory, { recursive: true })
    expect(output).toContain('There is one version, "v1"')
    expect(code).toBe(0)
  })

  it('without a table says what it needs', async () => {
    vi.stubEnv('ESPALIER_TABLE', '')
    const { code, output } = await run()
    expect(code).toBe(1)
    expect(output).toContain('ESPALIER_TABLE')
  })
})

/** Has the client's nth request fail, before it is sent or once it was answered, in turn. */
const crashAt = (at: number) => {
  let count = 0
  const name = `crash-${at}`
  dynamodb().middlewareStack.add(
    next => async args => {
      count += 1
      const isIt = count === Math.ceil(at / 2)
      if (isIt && at % 2 === 1) throw new Error('Killed before it was sent.')
      const answer = await next(args)
      if (isIt) throw new Error('Killed before it was answered.')
      return answer
    },
    { step: 'initialize', name },
  )
  return { remove: () => dynamodb().middlewareStack.remove(name) }
}

/** Does something before the first command of a kind. */
const onFirst = (command: string, work: () => Promise<unknown>) => {
  let isDone = false
  dynamodb().middlewareStack.add(
    (next, context) => async args => {
      if (context.commandName === command && !isDone) {
        isDone = true
        await work()
      }
      return next(args)
    },
    { step: 'initialize', name: 'on-first' },
  )
  return () => dynamodb().middlewareStack.remove('on-first')
}
