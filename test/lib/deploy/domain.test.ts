import { describe, expect, it } from 'vitest'
import { MAX_DOMAIN_CHARS, readDomain, routerDomainOf } from '../../../lib/deploy/domain.ts'

const certificate =
  'arn:aws:acm:us-east-1:123456789012:certificate/3a958790-8878-4cdc-a396-06d95064'
const read = (ESPALIER_DOMAIN?: string, ESPALIER_DOMAIN_CERTIFICATE?: string) =>
  readDomain({ ESPALIER_DOMAIN, ESPALIER_DOMAIN_CERTIFICATE })

describe('the domain of a deploy', () => {
  it('is none where nothing asks for one, as an empty variable doesn’t', () => {
    expect(read()).toBeUndefined()
    expect(read('', '')).toBeUndefined()
  })

  it.each(['tools.example.com', 'example.io', 'a-b.xn--nxasmq6b.example', '1.example.com'])(
    'may be %s',
    name => {
      expect(read(name)).toEqual({ name })
    },
  )

  it.each([
    'https://tools.example.com',
    'tools.example.com/',
    'tools.example.com:443',
    'Tools.example.com',
    '*.example.com',
    'localhost',
    'tools..example.com',
    'tools.example.com.',
    '-tools.example.com',
    'tools-.example.com',
    'tools_1.example.com',
    ' tools.example.com',
    '10.0.0.7',
    `${'a'.repeat(64)}.example.com`,
  ])('is refused as "%s", which says what one is', name => {
    expect(() => read(name)).toThrow(
      /ESPALIER_DOMAIN is ".*", which is no domain.*tools\.example\.com/,
    )
  })

  it('has as many characters as DNS takes, and not one more', () => {
    const longest = `${'abcd.'.repeat(60)}`.slice(0, MAX_DOMAIN_CHARS - 4) + '.com'
    expect(read(longest)?.name).toHaveLength(MAX_DOMAIN_CHARS)
    expect(() => read(`a${longest}`)).toThrow('no domain')
  })

  it('comes with a certificate of CloudFront’s region where its DNS is elsewhere', () => {
    expect(read('tools.example.com', certificate)).toEqual({
      name: 'tools.example.com',
      certificate,
    })
    expect(() => read('tools.example.com', certificate.replace('us-east-1', 'eu-west-1'))).toThrow(
      'in us-east-1',
    )
    expect(() => read('tools.example.com', 'mine')).toThrow('ESPALIER_DOMAIN_CERTIFICATE must be')
  })

  it('has its records made, unless it comes with a certificate', () => {
    const name = 'tools.example.com'
    expect(routerDomainOf({ name })).toEqual({ name })
    expect(routerDomainOf({ name, certificate })).toEqual({ name, cert: certificate, dns: false })
  })

  it('is missed where there is a certificate for one', () => {
    expect(() => read('', certificate)).toThrow('ESPALIER_DOMAIN, which it is for, is not')
  })
})
