import { createServer } from 'node:https'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { afterAll, describe, expect, it, test, vi } from 'vitest'
import { guardedFetch } from '../../../lib/web/guarded-fetch.ts'
import { selfSigned } from './certificate.ts'
import { failure } from './failure.ts'
import { allow, listen, resolving } from './server.ts'

const { resolve } = resolving({ 'garden.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'] })
const usual = getCACertificates('default')
afterAll(() => setDefaultCACertificates(usual))

const startSecure = async (certificate: { key: string; cert: string }) => {
  const requests: string[] = []
  const server = createServer(certificate, (request, response) => {
    const { servername } = request.socket as TLSSocket
    requests.push(`${request.headers.host} ${servername}`)
    response.end('reached')
  })
  return { ...(await listen(server)), requests }
}

describe('TLS', () => {
  it('is spoken with the name of the URL, at the address that was vetted', async () => {
    const certificate = selfSigned({ names: ['garden.example'], addresses: ['127.0.0.1'] })
    setDefaultCACertificates([...usual, certificate.cert])
    const server = await startSecure(certificate)
    allow('garden.example', '127.0.0.1')
    for (const host of ['garden.example', 'garden.example.', '127.0.0.1']) {
      const response = await guardedFetch({ resolve })(`https://${host}:${server.port}/`)
      expect(await response.text()).toBe('reached')
    }
    expect(server.requests).toEqual([
      `garden.example:${server.port} garden.example`,
      `garden.example.:${server.port} garden.example`,
      `127.0.0.1:${server.port} false`,
    ])
  })

  test.each([
    ['nobody trusts', selfSigned({ names: ['garden.example'] }), false],
    ['is for another name', selfSigned({ names: ['other.example'] }), true],
    ['is for the address alone', selfSigned({ names: [], addresses: ['127.0.0.1'] }), true],
    ['has expired', selfSigned({ names: ['garden.example'], days: -1 }), true],
  ])(
    'with a certificate that %s ends before a request is sent',
    async (_, certificate, trusted) => {
      setDefaultCACertificates(trusted ? [...usual, certificate.cert] : usual)
      const server = await startSecure(certificate)
      allow('garden.example')
      // Not even where the process was told to trust anybody.
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
      const fetched = guardedFetch({ resolve })(`https://garden.example:${server.port}/?key=s3cret`)
      const error = await failure(fetched)
      expect(error.code).toBe('FETCH_FAILED')
      expect(error.message).toMatch(/no certificate that can be trusted .* Nothing was sent/)
      expect(server.requests).toEqual([])
    },
  )

  it('that a server doesn’t speak is said to be so', async () => {
    const { createServer: createPlain } = await import('node:http')
    const server = await listen(createPlain())
    allow('127.0.0.1')
    const error = await failure(guardedFetch()(`https://127.0.0.1:${server.port}/`))
    expect(error.message).toContain('speaks no TLS')
  })
})
