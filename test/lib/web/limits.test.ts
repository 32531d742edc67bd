import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { guardedFetch } from '../../../lib/web/guarded-fetch.ts'
import { LIMITS, lowered } from '../../../lib/web/limits.ts'
import { failure } from './failure.ts'
import { allow, startServer, startTcpServer } from './server.ts'

const CODINGS = {
  gzip: gzipSync,
  deflate: deflateSync,
  // Its usual quality takes ten seconds for a bomb.
  br: (body: Uint8Array) =>
    brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: zstdCompressSync,
} as const

const startEncoded = async (encoding: string, body: Uint8Array) => {
  allow('127.0.0.1')
  return startServer((_, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(body),
  )
}

describe('an encoded body', () => {
  test.each(Object.entries(CODINGS))('in %s is decoded', async (encoding, encode) => {
    const server = await startEncoded(encoding, encode(Buffer.from('soil '.repeat(10_000))))
    expect(await (await guardedFetch()(server.url)).text()).toBe('soil '.repeat(10_000))
  })

  it('in deflate without its frame is decoded', async () => {
    const server = await startEncoded('deflate', deflateRawSync(Buffer.from('soil')))
    expect(await (await guardedFetch()(server.url)).text()).toBe('soil')
  })

  it('that is empty needs no decoding, and an unknown coding is handed on', async () => {
    const empty = await startEncoded('gzip', Buffer.alloc(0))
    expect(await (await guardedFetch()(empty.url)).text()).toBe('')
    const unknown = await startEncoded('compost', Buffer.from('soil'))
    expect(await (await guardedFetch()(unknown.url)).text()).toBe('soil')
  })

  test.each(Object.entries(CODINGS))(
    'in %s that unpacks to more than the limit ends there',
    async (encoding, encode) => {
      const bomb = encode(Buffer.alloc(LIMITS.maxBodyBytes + 1))
      expect(bomb.length).toBeLessThan(200_000)
      const server = await startEncoded(encoding, bomb)
      const response = await guardedFetch()(server.url)
      let bytes = 0
      const error = await failure(
        (async () => {
          for await (const chunk of response.body ?? []) bytes += chunk.byteLength
        })(),
      )
      expect(error.message).toContain(`more than ${LIMITS.maxBodyBytes} bytes`)
      expect(bytes).toBeLessThanOrEqual(LIMITS.maxBodyBytes)
    },
  )

  it('may unpack to exactly the limit', async () => {
    const server = await startEncoded('gzip', gzipSync(Buffer.alloc(LIMITS.maxBodyBytes)))
    expect((await (await guardedFetch()(server.url)).arrayBuffer()).byteLength).toBe(
      LIMITS.maxBodyBytes,
    )
  })

  it('in layers is undone up to the limit, and each layer is measured', async () => {
    const limits = { maxBodyBytes: 50_000 }
    const twice = await startEncoded('deflate, gzip', gzipSync(deflateSync(Buffer.from('soil'))))
    expect(await (await guardedFetch()(twice.url)).text()).toBe('soil')
    const thrice = await startEncoded('gzip, br, gzip', Buffer.from('x'))
    expect((await failure(guardedFetch()(thrice.url))).message).toContain(
      'encodes its body 3 times',
    )
    const bomb = gzipSync(gzipSync(Buffer.alloc(40_000_000)))
    expect(bomb.length).toBeLessThan(2_000)
    const layered = await startEncoded('gzip, gzip', bomb)
    const response = await guardedFetch()(layered.url, { limits })
    expect((await failure(response.text())).message).toContain('more than 50000 bytes')
    // Members of nothing: 2.5 MB inside that come to no byte outside.
    const member = gzipSync('')
    const nothing = gzipSync(Buffer.concat(Array.from({ length: 125_000 }, () => member)))
    const idle = await startEncoded('gzip, gzip', nothing)
    const never = await guardedFetch()(idle.url, { limits })
    expect((await failure(never.text())).message).toContain('more than 50000 bytes')
  })

  test.each(Object.entries(CODINGS))(
    'in %s that is broken or cut off fails',
    async (encoding, encode) => {
      const whole = encode(
        Buffer.from(Array.from({ length: 5_000 }, (_, index) => `soil ${index}`).join()),
      )
      for (const body of [
        whole.subarray(0, whole.length / 2),
        Buffer.from('\x08not what it says'),
      ]) {
        const server = await startEncoded(encoding, body)
        const response = await guardedFetch()(server.url)
        expect((await failure(response.text())).message).toContain('not encoded as it says')
      }
    },
  )
})

describe('a body', () => {
  it('that says that it is too large is not waited for', async () => {
    allow('127.0.0.1')
    const server = await startServer((_, response) =>
      response.writeHead(200, { 'content-length': LIMITS.maxBodyBytes + 1 }).write('x'),
    )
    expect((await failure(guardedFetch()(server.url))).code).toBe('FETCH_FAILED')
  })

  it('without an end is cut off at the limit, which a request may lower and never raise', async () => {
    allow('127.0.0.1')
    let sent = 0
    const server = await startServer((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384))) sent += 16_384
        response.once('drain', more)
      }
      more()
    })
    const response = await guardedFetch()(server.url, { limits: { maxBodyBytes: 1_000_000 } })
    expect((await failure(response.arrayBuffer())).message).toContain('more than 1000000 bytes')
    expect(sent).toBeLessThan(LIMITS.maxBodyBytes)
    expect(lowered([{ maxBodyBytes: LIMITS.maxBodyBytes + 1, maxRedirects: -1 }])).toMatchObject({
      maxBodyBytes: LIMITS.maxBodyBytes,
      maxRedirects: 0,
    })
    expect(lowered([{ maxRedirects: 5 }, { maxRedirects: 7 }]).maxRedirects).toBe(5)
    const ceiling = { totalTimeoutMs: LIMITS.totalTimeoutMs + 1 }
    const more = { totalTimeoutMs: LIMITS.totalTimeoutMs + 2, idleTimeoutMs: 1 }
    expect(lowered([more], ceiling)).toEqual({ ...LIMITS, ...ceiling, idleTimeoutMs: 1 })
  })

  it('that is not read is not taken from the socket, and its fetch ends in time', async () => {
    allow('127.0.0.1')
    let sent = 0
    let closed = false
    const server = await startServer((_, response) => {
      response.on('close', () => {
        closed = true
      })
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384))) sent += 16_384
        response.once('drain', more)
      }
      more()
    })
    const response = await guardedFetch()(server.url, { limits: { totalTimeoutMs: 400 } })
    await expect.poll(() => closed).toBe(true)
    expect(sent).toBeLessThan(LIMITS.maxBodyBytes / 2)
    expect((await failure(response.text())).message).toContain('took longer than 0.4 seconds')
  })

  test.each(['identity', 'gzip', 'zstd, gzip'])(
    'in %s that nobody wants any more is let go, before, while and after it is read',
    async encoding => {
      allow('127.0.0.1')
      const closed: string[] = []
      const body = Buffer.from(Array.from({ length: 90_000 }, (_, index) => `soil ${index}`).join())
      const encoded =
        { identity: body, gzip: gzipSync(body) }[encoding] ?? gzipSync(zstdCompressSync(body))
      const server = await startServer((request, response) => {
        response.on('close', () => closed.push(request.url ?? ''))
        response.writeHead(200, { 'content-encoding': encoding }).write(encoded)
      })
      const open = async (path: string) =>
        (await guardedFetch()(`${server.url}${path}`)).body?.getReader()
      await (await open('/unread'))?.cancel()
      const read = await open('/read')
      await read?.read()
      await read?.cancel()
      const waiting = await open('/waiting')
      const pending = (async () => {
        while (!(await waiting?.read())?.done);
      })()
      await new Promise(resolve => setTimeout(resolve, 100))
      await waiting?.cancel()
      await pending
      await expect.poll(() => closed).toEqual(['/unread', '/read', '/waiting'])
    },
  )

  it('whose server closes in the middle fails, however its length was told', async () => {
    allow('127.0.0.1')
    for (const header of ['content-length: 100', 'transfer-encoding: chunked']) {
      const server = await startTcpServer(socket =>
        socket.end(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n5\r\nsoil!\r\n`),
      )
      const response = await guardedFetch()(server.url)
      expect((await failure(response.text())).message).toContain('before its answer was complete')
    }
  })

  it('of a request has a limit, too', async () => {
    allow('127.0.0.1')
    const server = await startServer()
    const post = (bytes: number) =>
      guardedFetch()(server.url, { method: 'POST', body: Buffer.alloc(bytes) })
    expect((await post(LIMITS.maxRequestBytes)).status).toBe(200)
    expect((await failure(post(LIMITS.maxRequestBytes + 1))).code).toBe('FETCH_REFUSED')
    expect(server.connections()).toBe(1)
  })
})

describe('what is slow', () => {
  const patient = { connectTimeoutMs: 5_000, firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000 }

  test.each([
    ['says nothing', ''],
    ['never ends its status line', 'HTTP/1.1 200'],
    ['never ends its headers', 'HTTP/1.1 200 OK\r\nx: y\r\n'],
    ['answers that it will answer, for ever', 'HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n'],
  ])('a server that %s is given up', async (_, words) => {
    allow('127.0.0.1')
    const server = await startTcpServer(socket => {
      const timer = setInterval(() => socket.write(words), 40)
      socket.write(words)
      socket.on('close', () => clearInterval(timer))
    })
    const fetch = guardedFetch({ limits: { ...patient, firstByteTimeoutMs: 300 } })
    const error = await failure(fetch(`${server.url}/?key=s3cret`))
    expect(error.message).toMatch(/did not answer within 0.3 seconds|not HTTP/)
  })

  it('a body that stops is given up', async () => {
    allow('127.0.0.1')
    const server = await startServer((_, response) => response.writeHead(200).write('soil'))
    const response = await guardedFetch({ limits: { ...patient, idleTimeoutMs: 200 } })(server.url)
    expect((await failure(response.text())).message).toContain(
      'nothing more of its body within 0.2',
    )
  })

  it('a reader who takes longer than a server may is waited for', async () => {
    allow('127.0.0.1')
    const server = await startServer((_, response) => response.end('soil'.repeat(500_000)))
    const response = await guardedFetch({ limits: { ...patient, idleTimeoutMs: 100 } })(server.url)
    const reader = response.body?.getReader()
    await reader?.read()
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(await reader?.read()).toMatchObject({ done: false })
    await reader?.cancel()
  })

  it('a body that drips without an end is given up in all', async () => {
    allow('127.0.0.1')
    const server = await startServer((_, response) => {
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    })
    const response = await guardedFetch({ limits: { totalTimeoutMs: 300 } })(server.url)
    expect((await failure(response.text())).message).toContain('longer than 0.3 seconds in all')
  })

  it('a name that takes for ever to resolve is given up', async () => {
    const resolve = () => new Promise<never>(() => {})
    const fetch = guardedFetch({ resolve, limits: { connectTimeoutMs: 100 } })
    expect((await failure(fetch('http://slow.example/'))).message).toContain(
      'could not be connected to within 0.1 seconds',
    )
  })

  it('TLS that is never spoken is given up', async () => {
    allow('127.0.0.1')
    const server = await startTcpServer(() => {})
    const fetch = guardedFetch({ limits: { ...patient, connectTimeoutMs: 200 } })
    expect((await failure(fetch(`https://127.0.0.1:${server.port}/`))).message).toContain(
      'could not be connected to within 0.2 seconds',
    )
  })
})

describe('headers', () => {
  test.each([
    ['are as many as are read', LIMITS.maxHeaderBytes - 300, true],
    ['are more', LIMITS.maxHeaderBytes + 1, false],
  ])('that %s', async (_, bytes, fine) => {
    allow('127.0.0.1')
    const server = await startTcpServer(socket =>
      socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(bytes)}\r\ncontent-length: 0\r\n\r\n`),
    )
    const fetched = guardedFetch()(server.url)
    if (fine) return expect((await fetched).status).toBe(200)
    expect((await failure(fetched)).message).toContain('more headers than are read')
  })

  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', 'not HTTP'],
    ['a status of its own', 'HTTP/1.1 999 No\r\ncontent-length: 0\r\n\r\n', 'the status 999'],
    [
      'an upgrade',
      'HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      'another protocol',
    ],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx',
      'not HTTP',
    ],
    ['nothing at all', '', 'before its answer was complete'],
  ])('of %s fail clearly', async (_, words, problem) => {
    allow('127.0.0.1')
    const server = await startTcpServer(socket => socket.end(words))
    expect((await failure(guardedFetch()(server.url))).message).toContain(problem)
  })
})

describe('whatever a server sends', () => {
  it('becomes a response or an error of ours, and nothing else', async () => {
    allow('127.0.0.1')
    let words = ''
    const server = await startTcpServer(socket => socket.end(Buffer.from(words, 'latin1')))
    const piece = fc.constantFrom(
      ...[
        'HTTP/1.1 ',
        '200',
        ' OK',
        '\r\n',
        '\r\n\r\n',
        'location: ',
        '/x',
        'http://[',
        '302',
        '204',
      ],
      ...['content-length: ', '0', '5', 'transfer-encoding: chunked', 'content-encoding: ', 'gzip'],
      ...[
        ': ',
        ',',
        '\u0001',
        '\u007f',
        'ä',
        '\0',
        'a',
        '100',
        '999',
        '-',
        'set-cookie',
        'br',
        '\n',
      ],
    )
    const start = fc.constantFrom('', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 302 ', 'HTTP/1.1 200 ')
    const answer = fc
      .tuple(start, fc.array(piece, { maxLength: 12 }))
      .map(([first, pieces]) => first + pieces.join(''))
    await fc.assert(
      fc.asyncProperty(answer, async text => {
        words = text
        const read = guardedFetch({ limits: { totalTimeoutMs: 2_000, maxRedirects: 1 } })(
          server.url,
        )
        const outcome = await read.then(response => response.text()).catch(error => error)
        if (typeof outcome !== 'string') expect(outcome).toMatchObject({ code: 'FETCH_FAILED' })
      }),
      {
        numRuns: 500,
        examples: [['HTTP/1.1 200 O\u0001K\r\n\r\n'], ['HTTP/1.1 200 \u007f\r\n\r\n']],
      },
    )
  })
})

describe('a signal', () => {
  const startHanging = () =>
    startServer((request, response) => {
      if (request.url === '/body') response.writeHead(200).write('soil')
    })

  it('of the call or of the request ends it at any time, with its own reason', async () => {
    allow('127.0.0.1')
    const server = await startHanging()
    for (const path of ['/headers', '/body'])
      for (const whose of ['call', 'request']) {
        const controller = new AbortController()
        const { signal } = controller
        const fetch = guardedFetch(whose === 'call' ? { signal } : {})
        const fetched = fetch(server.url + path, whose === 'request' ? { signal } : {})
        const read = fetched.then(response => response.text())
        setTimeout(() => controller.abort(new Error('enough')), 50)
        await expect(read).rejects.toThrow('enough')
      }
  })

  it('ends it though all else that knows of the request was collected', async () => {
    allow('127.0.0.1')
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const server = await startHanging()
    const limits = { firstByteTimeoutMs: 3_000, idleTimeoutMs: 3_000 }
    for (const path of ['/headers', '/body'])
      for (const whose of ['call', 'request', 'Request']) {
        const controller = new AbortController()
        const { signal } = controller
        const fetch = guardedFetch({ limits, ...(whose === 'call' ? { signal } : {}) })
        const url = server.url + path
        const fetched =
          whose === 'Request'
            ? fetch(new Request(url, { signal }))
            : fetch(url, whose === 'request' ? { signal } : {})
        const read = fetched.then(response => response.text())
        for (let round = 0; round < 3; round++) {
          await new Promise(resolve => setTimeout(resolve, 30))
          collectGarbage()
        }
        setTimeout(() => controller.abort(new Error('enough')), 10)
        await expect(read).rejects.toThrow('enough')
      }
  })

  it('that has aborted already lets nothing out', async () => {
    allow('127.0.0.1')
    const server = await startHanging()
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(guardedFetch({ signal })(server.url)).rejects.toThrow('enough')
    await expect(guardedFetch()(server.url, { signal })).rejects.toThrow('enough')
    expect(server.connections()).toBe(0)
  })

  it('that aborts while a name is resolved ends the wait', async () => {
    const controller = new AbortController()
    const resolve = () => new Promise<never>(() => {})
    setTimeout(() => controller.abort(new Error('enough')), 20)
    const fetch = guardedFetch({ resolve, signal: controller.signal })
    await expect(fetch('http://slow.example/')).rejects.toThrow('enough')
  })

  it('that aborts while nobody reads a body breaks nothing, and reading says why', async () => {
    allow('127.0.0.1')
    const server = await startHanging()
    const controller = new AbortController()
    const response = await guardedFetch({ signal: controller.signal })(`${server.url}/body`)
    controller.abort(new Error('enough'))
    await new Promise(resolve => setTimeout(resolve, 50))
    await expect(response.text()).rejects.toThrow('enough')
  })
})
