import { expect, test } from 'vitest'
import { run } from '../functions/tools/run.ts'
import { tool } from './orders.ts'

/** A shop that knows one order, and what it was asked. */
const shop = () => {
  const asked: Request[] = []
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    asked.push(request)
    if (!request.url.includes('DE123456')) return new Response(null, { status: 404 })
    return Response.json({ state: 'packed' })
  }
  return { asked, fetch }
}
const settings = { region: 'us', api_key: 'a key', paused: false }

test('an order is looked up in the region that is set, with the key', async () => {
  const { asked, fetch } = shop()
  const answer = await run(tool, 'look_up', { order_id: 'DE123456' }, { settings, fetch })
  expect(await (answer as Response).json()).toEqual({ state: 'packed' })
  expect(asked[0]?.url).toBe('https://us.shop.example/orders/DE123456')
  expect(asked[0]?.headers.get('authorization')).toBe('Bearer a key')
})

test('an order that is not there is said to be so', async () => {
  const { fetch } = shop()
  const looking = run(tool, 'look_up', { order_id: 'DE999999' }, { settings, fetch })
  await expect(looking).rejects.toThrow('There is no order DE999999')
})

test('a cancellation asks first, and says what it will do', () => {
  const { cancel } = tool.operations
  expect(cancel.requiresApprovalByDefault).toBe(true)
  expect(cancel.describe({ order_id: 'DE123456', reason: 'too late' })).toBe(
    'Cancel the order DE123456: too late',
  )
})
