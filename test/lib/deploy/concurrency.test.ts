import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MIN_TICKS, tickConcurrency, UNRESERVED } from '../../../lib/deploy/concurrency.ts'

const inProduction = (quota: number | undefined, asked?: string) =>
  tickConcurrency({ quota, asked, isProduction: true })

describe('ticks at once', () => {
  it.each([
    [1_000, 499],
    [1_001, 500],
    [200, 99],
    [UNRESERVED + MIN_TICKS, MIN_TICKS],
  ])('of an account with room for %i functions are %i', (quota, reserved) => {
    expect(inProduction(quota)).toEqual({ reserved })
  })

  it.each([0, 10, UNRESERVED, UNRESERVED + MIN_TICKS - 1])(
    'have no limit where %i leave nothing to reserve, which the deploy says, and what to do',
    quota => {
      const { reserved, notice } = inProduction(quota)
      expect(reserved).toBeUndefined()
      expect(notice).toContain(`this account has room for ${quota} functions at once`)
      expect(notice).toContain('/quotas/L-B99A9384')
    },
  )

  it('have no limit where the quota can’t be read, which the deploy says', () => {
    const { reserved, notice } = inProduction(undefined)
    expect(reserved).toBeUndefined()
    expect(notice).toContain('servicequotas:GetServiceQuota')
  })

  it('of a personal stage take nothing from others in the account', () => {
    expect(tickConcurrency({ quota: 1_000, isProduction: false })).toEqual({})
    expect(tickConcurrency({ quota: 10, isProduction: false })).toEqual({})
    expect(tickConcurrency({ quota: 1_000, asked: '20', isProduction: false })).toEqual({
      reserved: 20,
    })
  })

  it('always leave more for operations, and what AWS keeps', () => {
    fc.assert(
      fc.property(fc.nat(20_000), quota => {
        const { reserved, notice } = inProduction(quota)
        expect(reserved === undefined).toBe(notice !== undefined)
        if (reserved === undefined) return
        expect(reserved).toBeLessThan(quota - reserved)
        expect(quota - reserved).toBeGreaterThanOrEqual(UNRESERVED)
      }),
    )
  })

  it('are as many as is asked for, up to the most', () => {
    expect(inProduction(1_000, '499')).toEqual({ reserved: 499 })
    expect(inProduction(1_000, '1')).toEqual({ reserved: 1 })
    expect(inProduction(undefined, '700')).toEqual({ reserved: 700 })
    expect(inProduction(10, 'off')).toEqual({})
    expect(() => inProduction(1_000, '500')).toThrow(
      'is 500, and this account has room for 1000 functions at once. Ticks may have 499',
    )
    expect(() => inProduction(10, '1')).toThrow('Ticks may have 0')
  })

  it.each(['0', '-1', '1.5', '1e3', 'many', ' 5', '1234567'])('are refused as "%s"', asked => {
    expect(() => inProduction(1_000, asked)).toThrow(
      `ESPALIER_TICK_CONCURRENCY is "${asked}"; it must be a whole number from 1, or "off".`,
    )
  })
})
