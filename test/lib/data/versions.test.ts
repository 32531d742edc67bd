import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { newNonce } from '../../../lib/core/ids.ts'
import { is } from '../../../lib/data/expression.ts'
import { moveOn } from '../../../lib/data/move-on.ts'
import { ROW_STEPS, type RowStep } from '../../../lib/data/row-steps.ts'
import * as table from '../../../lib/data/table.ts'
import { transact } from '../../../lib/data/transact.ts'
import { currentUsage } from '../../../lib/data/usage.ts'
import { useLocalTable } from '../../local-table.ts'
import { dynamodb } from '../../sdk.ts'

useLocalTable()

/** A tree: its height in feet, then in metres; then its crown and its trunk apart. */
const First = z.object({ name: z.string(), heightFeet: z.number(), rings: z.number().optional() })
const Second = z.object({ name: z.string(), heightM: z.number(), rings: z.number().optional() })
const Third = z.object({
  name: z.string(),
  trunkM: z.number(),
  crownM: z.number(),
  rings: z.number().optional(),
})
const TO_METRES: RowStep = {
  takes: ['heightFeet'],
  gives: ({ heightFeet }) => ({ heightM: Number(heightFeet) * 0.25 }),
}
const APART: RowStep = {
  takes: ['heightM'],
  gives: ({ heightM }) => ({ trunkM: Number(heightM) / 2, crownM: Number(heightM) / 2 }),
}

/** What the code knows that runs now: a deploy sets another one. */
const deploy = (version: 1 | 2 | 3) => {
  ROW_STEPS.tree = [TO_METRES, APART].slice(0, version - 1)
}
afterEach(() => {
  delete ROW_STEPS.tree
})

let trees = 0
const freshKey = () => ({ pk: `tree#${trees++}`, sk: 'tree' })

/** A tree of 8 feet, as the first version of the code has written it. */
const plant = async (fields: object = {}) => {
  deploy(1)
  const key = freshKey()
  await table.insert(First, { name: 'elm', heightFeet: 8, ...fields }, { key })
  return key
}

const raw = async (key: table.Key) => {
  const { Item } = await dynamodb().send(
    new GetItemCommand({ TableName: 'espalier', Key: marshall(key), ConsistentRead: true }),
  )
  return unmarshall(Item ?? {})
}

describe('a row of an earlier version', () => {
  it('reads as the latest one has it, wherever it is read', async () => {
    const key = await plant()
    deploy(2)
    expect(await table.get(Second, key)).toEqual({ name: 'elm', heightM: 2 })
    deploy(3)
    const elm = { name: 'elm', trunkM: 1, crownM: 1 }
    expect(await table.get(Third, key)).toEqual(elm)
    expect((await table.batchGet([key])).get(Third, key)).toEqual(elm)
    expect((await table.query(Third, { pk: key.pk })).items).toEqual([elm])
    expect(await table.insert(Third, elm, { key })).toEqual({ ok: false, item: elm })
    // Reading is no writing.
    expect(await raw(key)).toMatchObject({ heightFeet: 8 })
  })

  it('is moved on by the first update, which then lands on the new shape', async () => {
    const key = await plant({ rings: 4 })
    deploy(3)
    const outcome = await table.update(Third, key, { add: { crownM: 1 } }, { where: { trunkM: 1 } })
    expect(outcome).toEqual({ ok: true, item: { name: 'elm', rings: 4, trunkM: 1, crownM: 2 } })
    const row = await raw(key)
    expect(row).toMatchObject({ rowVersion: 3, crownM: 2 })
    expect(row).not.toHaveProperty('heightFeet')
    expect(row).not.toHaveProperty('heightM')
  })

  it('is moved on step by step as well: 1 to 2, and 2 to 3', async () => {
    const key = await plant()
    deploy(2)
    await table.update(Second, key, { set: { name: 'oak' } })
    expect(await raw(key)).toMatchObject({ rowVersion: 2, heightM: 2, name: 'oak' })
    deploy(3)
    await table.update(Third, key, { set: { rings: 9 } })
    expect(await raw(key)).toMatchObject({ rowVersion: 3, trunkM: 1, crownM: 1, name: 'oak' })
  })

  it('is moved on by a transaction, whichever of its writes looks at it', async () => {
    const [changed, checked, removed, made] = [
      await plant(),
      await plant(),
      await plant(),
      freshKey(),
    ]
    deploy(3)
    const outcome = await transact([
      { update: { set: { rings: 1 } }, key: changed, where: { crownM: 1 } },
      { check: checked, where: { trunkM: 1 } },
      { remove: removed, where: { trunkM: 1 } },
      { insert: { name: 'new', trunkM: 3, crownM: 3 }, key: made },
    ])
    expect(outcome).toEqual({ ok: true })
    expect(await raw(changed)).toMatchObject({ rowVersion: 3, trunkM: 1, rings: 1 })
    expect(await raw(checked)).toMatchObject({ rowVersion: 3 })
    expect(await raw(removed)).toEqual({})
    expect(await raw(made)).toMatchObject({ rowVersion: 3, trunkM: 3 })
  })

  it('fails a condition that is not met as any other does, and says how it is now', async () => {
    const key = await plant()
    deploy(3)
    const now = { name: 'elm', trunkM: 1, crownM: 1 }
    const where = { trunkM: 5 }
    expect(await table.update(Third, key, {}, { where, claim: newNonce() })).toEqual({
      ok: false,
      item: now,
    })
    expect(await transact([{ check: key, where }])).toEqual({ ok: false, failed: [0] })
  })

  it('is replaced whole, and checked for being there, without being moved on', async () => {
    const [replaced, checked] = [await plant(), await plant()]
    deploy(3)
    const { requests } = currentUsage()
    const outcome = await transact([
      { put: { name: 'ash', trunkM: 9, crownM: 9 }, key: replaced },
      { check: checked, where: { pk: is.present } },
    ])
    expect(outcome).toEqual({ ok: true })
    expect(currentUsage().requests - requests).toBe(1)
    expect(await raw(checked)).toMatchObject({ heightFeet: 8 })
    expect(await raw(replaced)).toMatchObject({ rowVersion: 3, trunkM: 9 })
  })

  it('keeps what was written while it was being moved on', async () => {
    const key = await plant()
    const seen = marshall(await raw(key))
    // The code from before is still at work on what the step is about to read.
    await table.update(First, key, { set: { heightFeet: 16 } })
    deploy(3)
    await moveOn(seen)
    expect(await raw(key)).toMatchObject({ heightFeet: 16 })
    await table.update(Third, key, { set: { rings: 1 } })
    expect(await raw(key)).toMatchObject({ rowVersion: 3, trunkM: 2, crownM: 2 })
  })

  it('loses nothing and moves on once, however many change it at the same moment', async () => {
    const key = await plant({ rings: 0 })
    deploy(3)
    const change = { add: { rings: 1 } }
    const changes = Array.from({ length: 8 }, (_, index) =>
      index % 2 === 0
        ? table.update(Third, key, change)
        : transact([{ update: change, key, where: { trunkM: 1 } }]),
    )
    expect((await Promise.all(changes)).every(({ ok }) => ok)).toBe(true)
    expect(await table.get(Third, key)).toEqual({ name: 'elm', rings: 8, trunkM: 1, crownM: 1 })
  })
})

describe('a row of a later version', () => {
  const tooNew = { code: 'VERSION_TOO_NEW', details: { retry_after_seconds: 30 } }

  it('is refused by code from before, read or written, and stays as it is', async () => {
    deploy(3)
    const key = freshKey()
    await table.insert(Third, { name: 'fir', trunkM: 1, crownM: 2 }, { key })
    const before = await raw(key)
    for (const version of [1, 2] as const) {
      deploy(version)
      const change = { set: { name: 'changed' } }
      const attempts = [
        () => table.get(First, key),
        () => table.query(First, { pk: key.pk }),
        () => table.insert(First, { name: 'elm', heightFeet: 1 }, { key }),
        () => table.update(First, key, change),
        () => table.update(First, key, change, { create: true }),
        () => transact([{ update: change, key }]),
        () => transact([{ put: { name: 'elm', heightFeet: 1 }, key }]),
        () => transact([{ check: key, where: { name: 'fir' } }]),
        () => transact([{ remove: key, where: { name: 'fir' } }]),
      ]
      for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject(tooNew)
    }
    expect(await raw(key)).toEqual(before)
  })

  it('is no worse than any other where only its being there counts', async () => {
    deploy(2)
    const key = freshKey()
    await table.insert(Second, { name: 'fir', heightM: 1 }, { key })
    deploy(1)
    expect(await transact([{ check: key, where: { pk: is.present } }])).toEqual({ ok: true })
    expect(await table.remove(key)).toBe(true)
  })
})

describe('versions cost nothing where there are none', () => {
  it('neither an attribute nor a request', async () => {
    const { requests } = currentUsage()
    const key = await plant()
    await table.update(First, key, { set: { rings: 1 } })
    expect(Object.keys(await raw(key)).sort()).toEqual(
      ['heightFeet', 'insertedBy', 'name', 'pk', 'rings', 'sk'].sort(),
    )
    expect(currentUsage().requests - requests).toBe(2)
  })

  it('nor a request more once rows are of the latest version', async () => {
    deploy(3)
    const key = freshKey()
    await table.insert(Third, { name: 'fir', trunkM: 1, crownM: 2 }, { key })
    const { requests } = currentUsage()
    await table.update(Third, key, { set: { rings: 1 } }, { create: true })
    await transact([{ update: { set: { rings: 2 } }, key, where: { rings: 1 }, create: true }])
    expect(currentUsage().requests - requests).toBe(2)
  })
})

it('moves on by any way to the same row, and keeps what no step has to do with', async () => {
  const attribute = fc.constantFrom('name', 'rings', 'other')
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(attribute, fc.string({ minLength: 1 })),
      fc.array(fc.constantFrom(2, 3, 3), { maxLength: 3 }),
      async (fields, deploys) => {
        deploy(1)
        const key = freshKey()
        await dynamodb().send(
          new PutItemCommand({
            TableName: 'espalier',
            Item: marshall({ ...key, heightFeet: 8, ...fields }),
          }),
        )
        for (const version of deploys.toSorted()) {
          deploy(version as 2 | 3)
          await table.update(z.object({}), key, { set: { visits: version } })
        }
        deploy(3)
        const Whole = z.looseObject({})
        const { pk, sk, visits, rowVersion, ...row } = (await table.get(Whole, key)) ?? {}
        expect(row).toEqual({ ...fields, trunkM: 1, crownM: 1 })
      },
    ),
    { numRuns: 30 },
  )
})
