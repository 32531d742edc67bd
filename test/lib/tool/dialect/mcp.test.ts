import { expect, test } from 'vitest'
import { mcpAnnotations } from '../../../../lib/tool/dialect/mcp.ts'

const effects = (...list: ('read' | 'idempotent' | 'once')[]) =>
  mcpAnnotations(list.map(effect => ({ effect })))

test('a tool that only reads says so', () => {
  expect(effects('read', 'read')).toEqual({
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: true,
  })
})

test('one operation that writes makes the tool one that writes, and one that may destroy', () => {
  expect(effects('read', 'idempotent')).toMatchObject({
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
  })
  expect(effects('idempotent', 'once')).toMatchObject({ idempotentHint: false })
})

test('a title is what people see', () => {
  expect(mcpAnnotations([{ effect: 'read' }], 'Time')).toMatchObject({ title: 'Time' })
  expect(effects('read')).not.toHaveProperty('title')
})
