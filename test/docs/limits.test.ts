import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { GATEWAY_ROUTES_VARIABLE } from '../../lib/deploy/group-routes.ts'

const ROOT = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8')
const page = read('docs/limits.md')

/** The rows of the page's table: what is limited, what AWS allows, what happens, the constants. */
const rows = page
  .split('\n')
  .filter(line => line.startsWith('|'))
  .slice(2)
  .map(line => line.split('|').map(cell => cell.trim()))

const constants = rows.flatMap(([, limit = '', , , cell = '']) =>
  [...cell.matchAll(/`([A-Z_]+)` = ([\d,]+) in `([^`]+)`/g)].map(
    ([, name = '', value = '', file = '']) => ({
      limit,
      name,
      value: Number(value.replaceAll(',', '')),
      file,
    }),
  ),
)

describe('the page on limits', () => {
  it('has a constant and a source of AWS’s for each limit, and says what happens', () => {
    expect(rows.length).toBeGreaterThan(20)
    for (const [, limit, source, behaviour] of rows) {
      expect(constants.filter(each => each.limit === limit)).not.toEqual([])
      expect(source, limit).toMatch(/\[[^\]]+\]\[[a-z0-9-]+\]|that of|those of/)
      expect(behaviour, limit).toMatch(/\w/)
    }
  })

  it.each(constants)('has the value of $name in $file', async ({ name, value, file }) => {
    const module = await import(path.join(ROOT, file))
    expect(module[name]).toBe(value)
  })

  it('leads to a page of AWS’s with each of its sources', () => {
    const used = new Set([...page.matchAll(/\]\[([a-z0-9-]+)\]/g)].map(([, name]) => name))
    const defined = [...page.matchAll(/^\[([a-z0-9-]+)\]: (\S+)$/gm)]
    expect(new Set(defined.map(([, name]) => name))).toEqual(used)
    for (const [, , url] of defined) expect(url).toMatch(/^https:\/\/docs\.aws\.amazon\.com\//)
  })

  it('names the variable of the quota, and is found from the README and from Deploying', () => {
    expect(page).toContain(`\`${GATEWAY_ROUTES_VARIABLE}\``)
    expect(read('README.md')).toContain('(docs/limits.md)')
    expect(read('docs/deploying.md')).toContain('(limits.md)')
  })
})
