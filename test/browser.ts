import type { Answer } from './stack.ts'

type Options = { method?: string; body?: unknown; headers?: Record<string, string> }

/**
 * As much of a browser as signing in needs: cookies by origin, a redirect at a time, and what
 * browsers say of where a request comes from.
 */
export const createBrowser = (userAgent = 'Test Browser 1.0') => {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: string) => {
    const { origin } = new URL(url)
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    return jar
  }

  /** One request, with no redirect followed. */
  const ask = async (url: string, { method = 'GET', body, headers }: Options = {}) => {
    const jar = jarOf(url)
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        'user-agent': userAgent,
        ...(jar.size > 0
          ? { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') }
          : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const cookies = response.headers.getSetCookie()
    for (const cookie of cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(cookie) || value === '') jar.delete(name)
      else jar.set(name, value)
    }
    const text = await response.text()
    const location = response.headers.get('location')
    return {
      url,
      status: response.status,
      headers: response.headers,
      text,
      cookies,
      location: location === null ? undefined : new URL(location, url).href,
      data: dataOf(text),
    }
  }

  return {
    ask,
    jarOf,
    /** Follows redirects until an address that `stop` names, which is not asked. */
    follow: async (start: string, stop: (url: string) => boolean = () => false) => {
      const hops: Awaited<ReturnType<typeof ask>>[] = []
      for (let next: string | undefined = start; next !== undefined; ) {
        if (hops.length > 0 && stop(next)) return { hops, last: hops.at(-1), next }
        const hop: Awaited<ReturnType<typeof ask>> = await ask(next)
        hops.push(hop)
        next = hop.location
      }
      return { hops, last: hops.at(-1), next: undefined }
    },
  }
}

const dataOf = (text: string): Record<string, never> & NonNullable<Answer['body']['data']> => {
  try {
    return JSON.parse(text).data ?? {}
  } catch {
    return {}
  }
}
