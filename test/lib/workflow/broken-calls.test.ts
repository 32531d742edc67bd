import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../../../lib/tool/define.ts'
import { MAX_REASKS } from '../../../lib/workflow/model-step.ts'
import { useWorld, world } from '../../use-world.ts'
import { dataOf } from '../../world.ts'
import { NAMES } from '../llm/server.ts'
import type { Scripted, WireName } from '../llm/wires.ts'
import { fine, say, server, useModelServer } from './model-server.ts'

/** What ran, with what. `{}` would be right for it: whoever put that for a broken call, ran it. */
const ran: unknown[] = []
const bell = defineTool({
  name: 'bell',
  description: 'Rings.',
  displayName: 'Bell',
  category: 'general',
  operations: {
    ring: {
      description: 'Ring.',
      parameters: z.object({ times: z.int().optional(), tune: z.string().optional() }),
      effect: 'read',
      describe: () => 'Ring',
      execute: async ({ parameters }) => {
        ran.push(parameters)
        return 'Rung.'
      },
    },
  },
})

useModelServer()
useWorld([bell])

// Gemini sends a call whole or not at all.
const wires: WireName[] = ['openai', 'anthropic', 'xai', 'openai-compatible']

const agentOf = async (wire: WireName) => {
  server.wire = wire
  const body = {
    name: wire,
    provider: wire,
    model: NAMES[wire],
    base_url: server.url,
    api_key: 'a-key-of-this-test',
  }
  const { id } = dataOf<{ id: string }>(
    await world.request('POST', '/api/v1/llm-configurations', { body }),
  )
  return world.createAgent(['bell'], { model: undefined, llm_configuration_id: id })
}

const run = async (wire: WireName, ...replies: Scripted[]) => {
  const agent = await agentOf(wire)
  ran.length = 0
  say(...replies)
  return world.untilTask(await world.createTask(agent, 'Ring.'), 'COMPLETED', 'FAILED')
}

const call = (text: string, end: Scripted['end'] = 'done'): Scripted => ({
  calls: [
    { id: 'call_1', name: 'bell', pieces: text === '' ? [] : [text.slice(0, 3), text.slice(3)] },
  ],
  end,
})

describe.each(wires)('over the wire of %s', wire => {
  it('a malformed call never runs, is asked for again, and its text never goes back', async () => {
    const broken = call('{"tune" "CANARY"}')
    const task = await run(wire, ...Array(MAX_REASKS + 1).fill(broken), fine)
    expect(task.status).toBe('COMPLETED')
    expect(ran).toEqual([])
    expect(server.asked).toHaveLength(MAX_REASKS + 2)
    const last = JSON.stringify(server.asked.at(-1))
    expect(last).toContain('not valid JSON')
    expect(last).not.toContain('CANARY')
  })

  it('a malformed call that comes whole the next time runs once, as it then is', async () => {
    const task = await run(wire, call('{"times": 1'.concat('1}}')), call('{"times": 2}'), fine)
    expect(task.status).toBe('COMPLETED')
    expect(ran).toEqual([{ times: 2 }])
  })

  it.each(['{"tune": "CANARY', '{"times":', '{'])(
    'a call that was cut off after %s never runs, and is not asked for again',
    async text => {
      const task = await run(wire, call(text, 'length'), fine)
      expect(task.status).toBe('COMPLETED')
      expect(ran).toEqual([])
      expect(server.asked).toHaveLength(2)
      const last = JSON.stringify(server.asked.at(-1))
      expect(last).toContain(`cut off after ${text.length} characters`)
      expect(last).not.toContain('CANARY')
    },
  )

  it('a call whose connection died within it never runs', async () => {
    const task = await run(wire, call('{"tune": "CAN', 'dies'), fine)
    expect(task.status).toBe('COMPLETED')
    expect(ran).toEqual([])
    expect(JSON.stringify(server.asked.at(-1))).toContain('cut off after 13 characters')
  })

  it('a call that was cut off before its first character never runs as {}', async () => {
    const task = await run(wire, call('', 'length'), fine)
    expect(task.status).toBe('COMPLETED')
    expect(ran).toEqual([])
  })
})
