import { allowedHosts } from './allowed.ts'
import { bodyStream } from './body.ts'
import { type Answer, exchange } from './exchange.ts'
import { failed } from './failure.ts'
import type { FetchInit, GuardOptions } from './guarded-fetch.ts'
import { firstHop, type Hop, nextHop } from './hop.ts'
import { type Limits, lowered } from './limits.ts'
import { vet } from './target.ts'
import { startWatch, unlessAborted, type Watch } from './watch.ts'

/** Answers that never have a body. */
const NULL_BODY_STATUSES = new Set([204, 205, 304])

/** Does what `guardedFetch` says: every hop is vetted, connected and watched in the same way. */
export const follow = async (
  input: string | URL | Request,
  init: FetchInit,
  options: GuardOptions,
): Promise<Response> => {
  const limits = lowered([options.limits, init.limits], options.ceiling)
  options.signal?.throwIfAborted()
  const { hop, request } = await firstHop(input, init, limits)
  const { redirect } = request
  const watch = startWatch([request.signal, ...(options.signal ? [options.signal] : [])], {
    held: [request, input],
    url: hop.url,
    milliseconds: limits.totalTimeoutMs,
  })
  try {
    const last = await lastHop(hop, { redirect, limits, watch, options })
    return responseOf(last, { limits, watch, redirected: last.hop !== hop })
  } catch (error) {
    watch.end()
    throw error
  }
}

type Road = {
  redirect: Request['redirect']
  limits: Limits
  watch: Watch
  options: GuardOptions
}

const lastHop = async (first: Hop, road: Road): Promise<{ hop: Hop; answer: Answer }> => {
  let hop = first
  for (let redirects = 0; ; redirects++) {
    const answer = await send(hop, road)
    try {
      if (road.redirect === 'manual') return { hop, answer }
      const next = nextHop(hop, answer)
      if (!next) return { hop, answer }
      if (road.redirect === 'error')
        throw failed(hop.url, 'redirects elsewhere, which this request does not allow.')
      if (redirects === road.limits.maxRedirects)
        throw failed(first.url, `redirects more than ${redirects} times.`)
      answer.body.destroy()
      hop = next
    } catch (error) {
      answer.body.destroy()
      throw error
    }
  }
}

const send = async (hop: Hop, { limits, watch, options }: Road): Promise<Answer> => {
  watch.expect({
    url: hop.url,
    milliseconds: limits.connectTimeoutMs,
    problem: 'could not be connected to',
  })
  const vetting = () => vet(hop.url, { resolve: options.resolve, allowed: allowedHosts() })
  const addresses = await unlessAborted(vetting, watch.signal)
  return exchange(hop, addresses, { limits, watch })
}

const responseOf = (
  { hop, answer }: { hop: Hop; answer: Answer },
  { limits, watch, redirected }: { limits: Limits; watch: Watch; redirected: boolean },
): Response => {
  const { status, statusText, headers } = answer
  const noBody = NULL_BODY_STATUSES.has(status) || hop.method === 'HEAD'
  try {
    const body = noBody ? null : bodyStream({ url: hop.url, answer, limits, watch })
    if (noBody) {
      watch.end()
      answer.body.destroy()
    }
    const url = new URL(hop.url)
    url.hash = ''
    return labelled(new Response(body, { status, statusText, headers }), {
      url: url.href,
      redirected,
    })
  } catch (error) {
    answer.body.destroy()
    throw error
  }
}

/** A response that was made, rather than fetched by Node, has no address of its own. */
const labelled = (response: Response, label: { url: string; redirected: boolean }): Response =>
  Object.defineProperties(response, {
    url: { value: label.url },
    redirected: { value: label.redirected },
    clone: { value: () => labelled(Response.prototype.clone.call(response), label) },
  })
