import { type Client, type Send, sender } from './client.ts'
import type { HttpResponse } from './http.ts'

/**
 * A command of a service whose every command is a POST of JSON to one address, under the name that
 * a header has. `action` is what a role must allow, and ends with the command's name.
 */
export const jsonCommand = <Input extends object, Output extends object>(
  client: () => Client,
  { target, action }: { target: string; action: string },
): Send<Input, Output> => {
  const name = action.slice(action.indexOf(':') + 1)
  return sender<Input, Output>(client, {
    name,
    action,
    request: input => ({
      method: 'POST',
      path: '/',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `${target}.${name}`,
      },
      body: JSON.stringify(input, withBytes),
    }),
    response: response => jsonOf(response) as Output,
    error: errorOf,
  })
}

export const jsonOf = ({ body }: HttpResponse): Record<string, unknown> => {
  const text = Buffer.from(body).toString()
  if (text === '') return {}
  try {
    // Most answers have no bytes, and looking through them takes several times as long.
    return BYTES.test(text) ? JSON.parse(text, ofBytes) : JSON.parse(text)
  } catch {
    // The parser's own error would quote the answer.
    throw new Error(`An answer of ${text.length} characters is no JSON.`)
  }
}

/** An attribute of bytes, or a set of some. */
const BYTES = /"BS?"\s*:\s*["[]/

/** Bytes are in Base64. A buffer would first tell itself in a way of its own. */
function withBytes(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const given = this[name]
  return given instanceof Uint8Array ? Buffer.from(given).toString('base64') : value
}

const ofBytes = (name: string, value: unknown): unknown => {
  if (name === 'B' && typeof value === 'string') return bytesOf(value)
  return name === 'BS' && Array.isArray(value) ? value.map(bytesOf) : value
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'))

/** The error of a JSON answer: its code stands in it or in a header, behind a namespace. */
export const errorOf = (
  response: HttpResponse,
): { code: string; message: string; details: object } => {
  const { __type, message, Message, ...details } = answered(response)
  const said = response.headers['x-amzn-errortype'] ?? __type ?? details.code
  const [code = ''] = String(said ?? `Http${response.status}`).split(':')
  return {
    code: code.slice(code.lastIndexOf('#') + 1),
    message: String(message ?? Message ?? `It answered ${response.status}.`),
    details,
  }
}

/** A gateway in front of a service may answer with a page. */
const answered = (response: HttpResponse): Record<string, unknown> => {
  try {
    return jsonOf(response)
  } catch {
    return {}
  }
}
