import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { routeTable } from '../../functions/routes.ts'
import { grantsOf } from '../../lib/deploy/grants.ts'
import { kindOf, problemsIn, READ_BY_THEIR_ROOMS, SCHEMAS } from './kinds.ts'
import { readRecording, recordedVersions } from './recording.ts'

describe.each(recordedVersions())('the rows that %s has written', version => {
  it('are of kinds that are known, each with a schema or a reader', async () => {
    const { rows } = await readRecording(version)
    const kinds = new Set(rows.map(kindOf))
    const known = [...Object.keys(SCHEMAS), ...READ_BY_THEIR_ROOMS]
    expect([...kinds].filter(kind => !known.includes(kind))).toEqual([])
    expect(known.filter(kind => !kinds.has(kind))).toEqual([])
  })

  it('read as they are, and nothing of them is passed over', async () => {
    const { rows } = await readRecording(version)
    const problems = rows.flatMap(row => {
      const schema = SCHEMAS[kindOf(row)]
      return schema ? problemsIn(schema, row).map(name => `${kindOf(row)}: ${name}`) : []
    })
    expect([...new Set(problems)]).toEqual([])
  })

  it('would not read if any field that they have were called otherwise', async () => {
    const { rows } = await readRecording(version)
    let renamed = 0
    for (const [kind, schema] of Object.entries(SCHEMAS)) {
      if (!(schema instanceof z.ZodObject)) continue
      const own = rows.filter(row => kindOf(row) === kind)
      for (const [name, field] of Object.entries(schema.shape)) {
        const row = own.find(candidate => candidate[name] !== undefined)
        // The key itself, and what claims leave, are no fields to be renamed.
        if (!row || ['sk', 'claim'].includes(name)) continue
        const { [name]: _, ...rest } = schema.shape
        const changed = z.object({ ...rest, [`${name}Renamed`]: field as z.ZodType })
        expect(problemsIn(changed, row), `${kind}: ${name}`).not.toEqual([])
        renamed += 1
      }
    }
    expect(renamed).toBeGreaterThan(150)
  })

  it('are there for every leading key that a role may touch', async () => {
    const { rows } = await readRecording(version)
    const { functions } = await routeTable()
    const grants = functions.flatMap(grantsOf)
    const leading = new Set(grants.flatMap(grant => (grant.rows ?? []).flatMap(({ keys }) => keys)))
    const kinds = new Set(rows.map(row => familyOf(row.pk?.S ?? '')))
    expect([...leading].filter(key => !kinds.has(familyOf(key)))).toEqual([])
    for (const { index, keys } of grants.flatMap(grant => grant.lists ?? [])) {
      const listed = new Set(rows.map(row => listOf(row[`${index}pk`]?.S ?? '')))
      expect(keys.filter(key => !listed.has(listOf(key)))).toEqual([])
    }
  })
})

/** `ledger#task_*` and `ledger#task_01…` alike: `ledger`. */
const familyOf = (key: string): string => key.split(/[_#]/, 1)[0] ?? ''

/** A list, whoever's it is: what stands behind its owner, or of a list without one its name. */
const listOf = (key: string): string => {
  const [owner = '', kind] = key.split('#')
  if (kind !== undefined && !/^[\d*]+$/.test(kind)) return `#${kind}`
  // What waits on a person is listed by principal, be it a user or a group.
  return familyOf(owner).replace('group', 'user')
}
