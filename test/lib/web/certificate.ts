import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

type Options = { names: string[]; addresses?: string[]; days?: number }

const DAY_MS = 86_400_000

/** DER: a tag, a length, and content. */
const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const head =
    length < 128
      ? [tag, length]
      : length < 256
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), content])
}
const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts)
const oid = (...bytes: number[]) => der(0x06, Buffer.from(bytes))
const utcTime = (time: number) =>
  der(0x17, Buffer.from(new Date(time).toISOString().replace(/^20|[-:T]|\.\d+/g, '')))

const ECDSA_WITH_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
const COMMON_NAME = oid(0x55, 0x04, 0x03)
const SUBJECT_ALT_NAME = oid(0x55, 0x1d, 0x11)
const BASIC_CONSTRAINTS = oid(0x55, 0x1d, 0x13)
const VERSION_3 = der(0xa0, der(0x02, Buffer.from([2])))
const IS_AUTHORITY = sequence(der(0x01, Buffer.from([0xff])))

/** A key and a certificate that it signed itself, for names and IPv4 addresses; expired if days < 0. */
export const selfSigned = ({ names, addresses = [], days = 1 }: Options) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = sequence(
    der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from('Espalier test')))),
  )
  const alternatives = sequence(
    ...names.map(name => der(0x82, Buffer.from(name))),
    ...addresses.map(address => der(0x87, Buffer.from(address.split('.').map(Number)))),
  )
  const ends = Date.now() + days * DAY_MS
  const body = sequence(
    VERSION_3,
    der(0x02, Buffer.from([1]), randomBytes(8)),
    ECDSA_WITH_SHA256,
    subject,
    sequence(utcTime(Date.now() - 30 * DAY_MS), utcTime(ends)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        sequence(BASIC_CONSTRAINTS, der(0x04, IS_AUTHORITY)),
        sequence(SUBJECT_ALT_NAME, der(0x04, alternatives)),
      ),
    ),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey))
  const certificate = sequence(body, ECDSA_WITH_SHA256, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`,
  }
}
