import { afterEach, describe, expect, it, vi } from 'vitest'
import { generate } from '../../../lib/llm/generate.ts'
import {
  MAX_MODEL_NAME_CHARS,
  ModelReference,
  PROVIDERS,
  parseModel,
} from '../../../lib/llm/model-reference.ts'
import { keyVariable, openModel } from '../../../lib/llm/provider.ts'
import { KEY, NAMES, request, serve, streamed } from './server.ts'

afterEach(() => vi.unstubAllEnvs())

describe('the text that names a model', () => {
  it('is a provider and a name', () => {
    expect(parseModel('openai/gpt-5-mini')).toEqual({ provider: 'openai', name: 'gpt-5-mini' })
  })

  it('may have slashes and colons in its name', () => {
    const name = 'meta-llama/llama-4:free'
    expect(parseModel(`openai-compatible/${name}`)).toEqual({ provider: 'openai-compatible', name })
  })

  it.each([
    '',
    'gpt-5',
    'openai',
    'openai/',
    '/gpt-5',
    'nobody/gpt-5',
    'google/../../secrets',
    'xai/a b',
    'openai/x?y=1',
  ])('is not %j', text => {
    expect(() => parseModel(text)).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_ERROR',
        message: expect.stringContaining('<provider>/<name>'),
      }),
    )
  })

  it('has a longest name', () => {
    const name = 'x'.repeat(MAX_MODEL_NAME_CHARS)
    expect(parseModel(`openai/${name}`).name).toBe(name)
    expect(() => parseModel(`openai/${name}x`)).toThrow()
  })
})

describe('the address of a model', () => {
  it.each(['ftp://models.example', 'models.example', 'https://me:secret@models.example/v1'])(
    'is not %j',
    baseUrl => {
      const reference = { provider: 'openai-compatible', name: 'x', baseUrl }
      expect(ModelReference.safeParse(reference).success).toBe(false)
    },
  )

  it('is needed by a compatible server', async () => {
    await expect(openModel({ provider: 'openai-compatible', name: 'x' })).rejects.toMatchObject({
      code: 'NOT_CONFIGURED',
      message: expect.stringContaining('baseUrl'),
    })
  })

  it('is where every provider is asked, if given', async () => {
    for (const provider of PROVIDERS.filter(name => name !== 'rehearsal')) {
      const { fetch, received } = serve(streamed(provider, { text: 'Hi', end: 'done' }))
      const reference = { provider, name: NAMES[provider], baseUrl: 'https://proxy.example/base' }
      await generate(await openModel(reference, { apiKey: KEY, fetch }), request())
      expect(received[0]?.url).toMatch(/^https:\/\/proxy\.example\/base\//)
    }
  })
})

describe('the key of a provider', () => {
  it.each([
    ['openai', 'OPENAI_API_KEY', 'authorization'],
    ['anthropic', 'ANTHROPIC_API_KEY', 'x-api-key'],
    ['google', 'GOOGLE_GENERATIVE_AI_API_KEY', 'x-goog-api-key'],
    ['xai', 'XAI_API_KEY', 'authorization'],
    ['openai-compatible', 'OPENAI_COMPATIBLE_API_KEY', 'authorization'],
  ] as const)(
    'of %s is read from %s, and goes into a header',
    async (provider, variable, header) => {
      expect(keyVariable(provider)).toBe(variable)
      vi.stubEnv(variable, KEY)
      const { fetch, received } = serve(streamed(provider, { text: 'Hi', end: 'done' }))
      const reference = { provider, name: NAMES[provider], baseUrl: 'https://models.example/v1' }
      await generate(await openModel(reference, { fetch }), request())
      expect(received[0]?.headers.get(header)).toContain(KEY)
      expect(received[0]?.url).not.toContain(KEY)
    },
  )

  it.each(['openai', 'anthropic', 'google', 'xai'] as const)(
    'of %s is asked for where there is none',
    async provider => {
      const variable = keyVariable(provider)
      vi.stubEnv(String(variable), '')
      await expect(openModel({ provider, name: NAMES[provider] })).rejects.toMatchObject({
        code: 'NOT_CONFIGURED',
        message: expect.stringContaining(`Set the environment variable ${variable}`),
      })
    },
  )

  it('is no need of a compatible server, which is then asked without one', async () => {
    vi.stubEnv('OPENAI_COMPATIBLE_API_KEY', '')
    const { fetch, received } = serve(streamed('openai-compatible', { text: 'Hi', end: 'done' }))
    const reference = {
      provider: 'openai-compatible',
      name: 'x',
      baseUrl: 'http://localhost:1',
    } as const
    await generate(await openModel(reference, { fetch }), request())
    expect(received[0]?.headers.has('authorization')).toBe(false)
  })

  it('is nothing that a rehearsal has', async () => {
    expect(keyVariable('rehearsal')).toBeUndefined()
    const model = await openModel(parseModel('rehearsal/script'))
    expect(model).toMatchObject({ provider: 'rehearsal', modelId: 'script' })
  })
})
