import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { Agent, agentIndexes, agentKey } from '../../../lib/agent/agent.ts'
import {
  MAX_DESCRIPTION_CHARS,
  MAX_NAME_CHARS,
  MAX_SYSTEM_PROMPT_CHARS,
} from '../../../lib/agent/limits.ts'
import { MAX_DESCRIPTION_CHARS as MAX_SENTENCE_CHARS } from '../../../lib/call/description.ts'
import { MAX_OPTION_CHARS, MAX_OPTIONS, MAX_QUESTION_CHARS } from '../../../lib/call/question.ts'
import { callKey, ToolCall } from '../../../lib/call/tool-call.ts'
import { newId, newNonce } from '../../../lib/core/ids.ts'
import { type Large, MAX_INLINE_BYTES } from '../../../lib/data/large.ts'
import * as table from '../../../lib/data/table.ts'
import { type TransactionWrite, transact } from '../../../lib/data/transact.ts'
import { MAX_TOOL_NAME_CHARS } from '../../../lib/http/agent-body.ts'
import { MAX_BASE_URL_CHARS, MAX_MODEL_NAME_CHARS } from '../../../lib/llm/model-reference.ts'
import { Asset } from '../../../lib/media/asset.ts'
import { MAX_FILENAME_CHARS, MAX_ORIGIN_CHARS } from '../../../lib/media/limits.ts'
import { MAX_DEPTH, MAX_HANDOVERS } from '../../../lib/task/create.ts'
import { HistoryRow, historyKey } from '../../../lib/task/history.ts'
import {
  beginRequest,
  cancelSteps,
  emptyLedger,
  getLedger,
  Ledger,
  ledgerKey,
  MAX_TREE_STEPS,
} from '../../../lib/task/ledger.ts'
import { Task, taskKey } from '../../../lib/task/task.ts'
import { useLocalTable } from '../../local-table.ts'

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
const MAX_ITEM_BYTES = 400 * 1024
const MAX_TRANSACTION_WRITES = 100

useLocalTable()

const Row = z.object({ text: z.string() })
let rows = 0
const freshKey = () => ({ pk: `row#${rows++}`, sk: 'row' })

/** A text of signs of three bytes each: the longest in a table that a limit in characters allows. */
const longest = (chars: number) => '山'.repeat(chars)
/** The longest that stays in an item. */
const inline = (): Large => ({ json: 'x'.repeat(MAX_INLINE_BYTES) })
const now = new Date().toISOString()

/** Writes an item as it is, and reads it back: what is too large for the table is refused by it. */
const keeps = async <T extends object>(
  schema: z.ZodType<T>,
  item: T,
  write: Parameters<typeof table.insert>[2],
) => {
  const { ok } = await table.insert(schema, item, write)
  expect(ok).toBe(true)
  expect(await table.get(schema, write.key)).toEqual(schema.parse(item))
}

describe('the table', () => {
  it('takes an item of 400 KB, and not one byte more', async () => {
    const insert = (bytes: number) => {
      const key = freshKey()
      const own = `pk${key.pk}sk${key.sk}textinsertedBy${newNonce()}`.length
      return table.insert(Row, { text: 'x'.repeat(bytes - own) }, { key })
    }
    expect((await insert(MAX_ITEM_BYTES)).ok).toBe(true)
    await expect(insert(MAX_ITEM_BYTES + 1)).rejects.toThrow(/maximum allowed size/)
  })

  it('gives everything of a batch that is more than it answers at once: 100 keys, and 16 MB', async () => {
    const keys = Array.from({ length: 101 }, freshKey)
    const large = keys.slice(0, 50)
    for (const key of large) await table.insert(Row, { text: 'x'.repeat(350 * 1024) }, { key })
    for (const key of keys.slice(50)) await table.insert(Row, { text: 'y' }, { key })
    const found = await table.batchGet(keys)
    for (const key of keys)
      expect(found.get(Row, key)?.text).toHaveLength(large.includes(key) ? 350 * 1024 : 1)
  })

  it('takes 100 writes at once, and not one more', async () => {
    const writes = (count: number): TransactionWrite[] =>
      Array.from({ length: count }, () => ({ insert: { text: 'x' }, key: freshKey() }))
    expect(await transact(writes(MAX_TRANSACTION_WRITES))).toEqual({ ok: true })
    await expect(transact(writes(MAX_TRANSACTION_WRITES + 1))).rejects.toThrow(/100/)
  })
})

describe('the longest that may be of it', () => {
  it('an agent is an item', async () => {
    const agent: Agent = {
      id: newId('agent'),
      principalId: newId('group'),
      name: longest(MAX_NAME_CHARS),
      description: longest(MAX_DESCRIPTION_CHARS),
      systemPrompt: longest(MAX_SYSTEM_PROMPT_CHARS),
      model: {
        provider: 'openai-compatible',
        name: longest(MAX_MODEL_NAME_CHARS),
        baseUrl: longest(MAX_BASE_URL_CHARS),
      },
      maxSteps: 100,
      maxRetries: 0,
      retryAfterMinutes: 1,
      allowFollowup: true,
      toolChoice: { tool: longest(MAX_TOOL_NAME_CHARS) },
      template: { id: longest(100), version: longest(50) },
      version: 1,
      createdAt: now,
    }
    await keeps(Agent, agent, { key: agentKey(agent.id), indexes: agentIndexes(agent) })
  })

  it('a call is an item, with its arguments, its result, a question and the answer', async () => {
    const call: ToolCall = {
      id: newId('call'),
      status: 'COMPLETED',
      agentId: newId('agent'),
      principalId: newId('user'),
      taskId: newId('task'),
      rootId: newId('task'),
      tool: longest(MAX_TOOL_NAME_CHARS),
      operation: longest(64),
      effect: 'once',
      arguments: inline(),
      result: inline(),
      answer: inline(),
      meta: {},
      description: longest(MAX_SENTENCE_CHARS),
      requiresApproval: true,
      digest: 'd'.repeat(64),
      question: {
        text: longest(MAX_QUESTION_CHARS),
        options: Array.from({ length: MAX_OPTIONS }, () => longest(MAX_OPTION_CHARS)),
        until: now,
      },
      createdAt: now,
    }
    await keeps(ToolCall, call, { key: callKey(call.id) })
  })

  it('a row of a history is one, with the answers that were asked for again', async () => {
    const row: HistoryRow = {
      taskId: newId('task'),
      seq: 0,
      role: 'assistant',
      message: inline(),
      discarded: inline(),
      attention: Array.from({ length: 100 }, () => newId('task')),
      createdAt: now,
      model: longest(MAX_MODEL_NAME_CHARS),
    }
    await keeps(HistoryRow, row, { key: historyKey(row.taskId, 0) })
  })

  it('a task is one, at the end of the longest line of tasks', async () => {
    const task: Task = {
      id: newId('task'),
      agentId: newId('agent'),
      principalId: newId('user'),
      status: 'FAILED',
      rootId: newId('task'),
      lineage: Array.from({ length: MAX_DEPTH + MAX_HANDOVERS }, () => newId('task')),
      depth: MAX_DEPTH,
      maxSteps: 100,
      stepsFrom: 0,
      createdAt: now,
      updatedAt: now,
      finalResponse: inline(),
      error: { code: 'BAD_REQUEST', message: longest(2_000) },
      handoverAgent: { id: newId('agent'), name: longest(MAX_NAME_CHARS) },
      token: 't'.repeat(2_048),
      // A thousand people have had it go on.
      alsoStartedBy: Array.from({ length: 1_000 }, () => newId('user')),
      failures: 0,
      retries: 0,
      eventSeq: 1,
      generation: 1,
      ticks: 0,
      wakeSeq: 1,
      seenWakeSeq: 1,
      fence: 1,
    }
    await keeps(Task, task, { key: taskKey(task.id) })
  })

  it('a file is one, with what its agent tells of it', async () => {
    const asset: Asset = {
      id: newId('media'),
      principalId: newId('user'),
      agentId: newId('agent'),
      taskId: newId('task'),
      filename: longest(MAX_FILENAME_CHARS),
      mimeType: 'text/markdown',
      bytes: 1,
      prompt: longest(MAX_ORIGIN_CHARS),
      createdAt: now,
      linkVersion: 0,
      linkActive: true,
    }
    await keeps(Asset, asset, { key: { pk: asset.id, sk: 'media' } })
  })

  it('a tree’s ledger is one, with as many tasks stopped as it may have steps', async () => {
    const rootId = newId('task')
    const cancelled = new Set(Array.from({ length: MAX_TREE_STEPS }, () => newId('task')))
    await table.insert(
      z.looseObject({}),
      { ...emptyLedger(rootId), cancelled, steps: MAX_TREE_STEPS - 500 },
      { key: ledgerKey(rootId) },
    )
    const task = { id: newId('task'), rootId, lineage: [] }
    // Requests that nobody has heard of, as of so many ticks that died.
    for (let request = 0; request < 300; request++)
      expect(await beginRequest(task, { tokens: 1_000_000 })).toHaveProperty('mark')
    await cancelSteps(task)
    expect(await beginRequest(task, { tokens: 1 })).toBe('cancelled')
    expect(Ledger.safeParse(await getLedger(rootId)).success).toBe(true)
  })
})
