import { createHash } from 'node:crypto'
import { type Id, idOf } from '../core/ids.ts'
import { getObject, headObject, putObject } from '../data/objects.ts'

/** What a kept result is called: the key of its object. */
const NAME = /^results\/(call_[0-9A-Z]{26})\/([0-9a-f]{64})$/

/**
 * Keeps a result whole, named by what is in it: another run of the same call can't change what this
 * one said.
 */
export const keepResult = async (
  callId: Id<'call'>,
  body: string | Uint8Array,
  contentType: string,
): Promise<string> => {
  const name = keptName(callId, createHash('sha256').update(body).digest('hex'))
  await putObject(name, body, contentType)
  return name
}

export const keptName = (callId: Id<'call'>, hash: string): string => `results/${callId}/${hash}`

/** The call whose result a name is of, or undefined where it is no such name. */
export const callOfKept = (name: string): Id<'call'> | undefined =>
  idOf('call').safeParse(NAME.exec(name)?.[1]).data

/** The media type of a kept result, or undefined where there is none. */
export const typeOfKept = async (name: string): Promise<string | undefined> => {
  return (await headObject(name))?.contentType.split(';')[0]
}

/** The bytes of a kept result, or undefined where there are none. */
export const readKept = (name: string): Promise<Uint8Array | undefined> => getObject(name)
