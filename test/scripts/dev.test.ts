import { type ChildProcess, spawn } from 'node:child_process'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'

const ROOT = path.join(import.meta.dirname, '../..')
const KEY = 'a-key-of-my-own-choice'
const WAIT = { timeout: 20_000, interval: 50 }

type Dev = { child: ChildProcess; output: () => string; url: () => Promise<string> }

const started: ChildProcess[] = []
const folders: string[] = []

const dataFolder = async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'espalier-dev-'))
  folders.push(folder)
  return folder
}

const startDev = (env: NodeJS.ProcessEnv, options: { detached?: boolean } = {}): Dev => {
  const child = spawn(process.execPath, ['scripts/dev.ts'], {
    ...options,
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', ...env },
  })
  started.push(child)
  let text = ''
  child.stdout.on('data', chunk => {
    text += chunk
  })
  child.stderr.on('data', chunk => {
    text += chunk
  })
  return {
    child,
    output: () => text,
    url: () =>
      vi.waitFor(() => {
        const url = /listens on (\S+)/.exec(text)?.[1]
        if (!url) throw new Error(`not up yet: ${text}`)
        return url
      }, WAIT),
  }
}

const request = async (url: string, method: string, where: string, body?: unknown) => {
  const response = await fetch(`${url}/api/v1${where}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return ((await response.json()) as { data: { id: string; status: string } }).data
}

const stop = async (child: ChildProcess, signal: NodeJS.Signals) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise(resolve => child.once('exit', resolve))
  child.kill(signal)
  await gone
}

afterEach(async () => {
  await Promise.all(started.splice(0).map(child => stop(child, 'SIGTERM')))
  await Promise.all(folders.splice(0).map(folder => rm(folder, { recursive: true, force: true })))
})

describe('npm run dev', () => {
  it('goes on with a task after kill -9 in the middle of it', async () => {
    const env = { ESPALIER_DATA: await dataFolder(), ESPALIER_ADMIN_KEY: KEY }
    const first = startDev(env)
    const url = await first.url()
    const agent = await request(url, 'POST', '/agents', {
      name: 'Ada',
      model: { provider: 'rehearsal', name: 'script' },
    })
    await request(url, 'POST', `/agents/${agent.id}/tools/calculator/enable`)
    const steps = Array.from(
      { length: 8 },
      (_, n) => `/calculator calculate {"expression": "${n} + 1"}`,
    )
    const task = await request(url, 'POST', '/tasks', {
      agent_id: agent.id,
      prompt: steps.join('\n\n'),
    })
    await stop(first.child, 'SIGKILL')

    const second = startDev(env)
    const again = await second.url()
    await vi.waitFor(async () => {
      expect((await request(again, 'GET', `/tasks/${task.id}`)).status).toBe('COMPLETED')
    }, WAIT)
  })

  it('prints the key that it makes at the first start, and one line for each request', async () => {
    const env = { ESPALIER_DATA: await dataFolder() }
    const first = startDev(env)
    const url = await first.url()
    const key = await vi.waitFor(() => {
      const text = /\s(esp_\S+)/.exec(first.output())?.[1]
      if (!text) throw new Error('no key yet')
      return text
    }, WAIT)
    const response = await fetch(`${url}/api/v1/principals/me`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(response.status).toBe(200)
    await vi.waitFor(
      () => expect(first.output()).toMatch(/GET \/api\/v1\/principals\/me 200 \d+ ms/),
      WAIT,
    )
    await stop(first.child, 'SIGTERM')

    const second = startDev(env)
    await second.url()
    expect(second.output()).not.toContain('esp_')
  })

  it('shows a page that lists the tools and the first commands', async () => {
    const dev = startDev({ ESPALIER_DATA: await dataFolder() })
    const page = await (await fetch(await dev.url())).text()
    for (const word of [
      'sub_agent',
      'get_public_url',
      'asks first',
      'Let it use a tool',
      'curl -s',
    ])
      expect(page).toContain(word)
  })

  it('starts anew when a file changes, also one that an editor replaces, again and again', async () => {
    const dev = startDev({ ESPALIER_DATA: await dataFolder() })
    await dev.url()
    const starts = (count: number) =>
      vi.waitFor(() => expect(dev.output().match(/listens on/g)).toHaveLength(count), WAIT)
    const file = path.join(ROOT, 'scripts', `changed-by-test-${process.pid}.ts`)
    try {
      writeFileSync(file, 'export {}\n')
      await starts(2)
      for (const count of [3, 4]) {
        writeFileSync(`${file}.new`, `export const count = ${count}\n`)
        renameSync(`${file}.new`, file)
        await starts(count)
      }
    } finally {
      rmSync(file, { force: true })
    }
  })

  it('stops without a word of complaint on Ctrl+C, which every process of it gets', async () => {
    const dev = startDev({ ESPALIER_DATA: await dataFolder() }, { detached: true })
    await dev.url()
    const gone = new Promise(resolve => dev.child.once('exit', resolve))
    process.kill(-(dev.child.pid ?? 0), 'SIGINT')
    expect(await gone).toBe(0)
    expect(dev.output()).not.toContain('Error')
  })

  it.each([
    [{ PORT: 'abc' }, 'PORT must be a whole number'],
    [{ ESPALIER_ADMIN_KEY: 'short' }, 'at least 16 characters'],
  ])('ends with a message for %o', async (env, message) => {
    const dev = startDev({ ESPALIER_DATA: await dataFolder(), ...env })
    const code = await new Promise(resolve => dev.child.once('exit', resolve))
    expect(code).toBe(1)
    expect(dev.output()).toContain(message)
  })

  it('says what to do where its port or its data folder is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => taken.once('listening', resolve))
    const address = taken.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const folder = await dataFolder()
    const refused = startDev({ ESPALIER_DATA: folder, PORT: String(port) })
    expect(await new Promise(resolve => refused.child.once('exit', resolve))).toBe(1)
    expect(refused.output()).toContain(`Port ${port} is in use`)
    taken.close()

    // The key was not made in vain: the start that succeeds is the first one.
    const dev = startDev({ ESPALIER_DATA: folder })
    await dev.url()
    await vi.waitFor(() => expect(dev.output()).toContain('esp_'), WAIT)
    const second = startDev({ ESPALIER_DATA: folder })
    expect(await new Promise(resolve => second.child.once('exit', resolve))).toBe(1)
    expect(second.output()).toContain('set ESPALIER_DATA to another folder')
  })
})
