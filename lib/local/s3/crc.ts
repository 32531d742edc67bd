import { crc32 } from 'node:zlib'

/** A checksum over a stream: feed it, then take its bytes, most significant first. */
export type Crc = { update: (chunk: Uint8Array) => void; digest: () => Buffer }

export const createCrc32 = (): Crc => {
  let value = 0
  return {
    update: chunk => {
      value = crc32(chunk, value)
    },
    digest: () => unsigned32(value),
  }
}

/** CRC-32C (Castagnoli), reflected; Node has none of its own. */
export const createCrc32c = (): Crc => {
  let value = 0xffffffff
  return {
    update: chunk => {
      for (const byte of chunk) value = (value >>> 8) ^ (CRC32C[(value ^ byte) & 0xff] ?? 0)
    },
    digest: () => unsigned32(~value),
  }
}

/** CRC-64/NVME, reflected, in two halves of 32 bits: BigInt takes about thirty times as long. */
export const createCrc64Nvme = (): Crc => {
  let low = 0xffffffff
  let high = 0xffffffff
  return {
    update: chunk => {
      for (const byte of chunk) {
        const index = (low ^ byte) & 0xff
        low = ((low >>> 8) | (high << 24)) ^ (CRC64_LOW[index] ?? 0)
        high = (high >>> 8) ^ (CRC64_HIGH[index] ?? 0)
      }
    },
    digest: () => Buffer.concat([unsigned32(~high), unsigned32(~low)]),
  }
}

const unsigned32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/** What eight shifts through a reflected polynomial make of each byte. */
const remainders = (polynomial: bigint): bigint[] =>
  Array.from({ length: 256 }, (_, byte) => {
    let value = BigInt(byte)
    for (let bit = 0; bit < 8; bit++) value = value & 1n ? (value >> 1n) ^ polynomial : value >> 1n
    return value
  })

const CRC32C = Uint32Array.from(remainders(0x82f63b78n), Number)
const crc64 = remainders(0x9a6c9329ac4bc9b5n)
const CRC64_LOW = Uint32Array.from(crc64, value => Number(value & 0xffffffffn))
const CRC64_HIGH = Uint32Array.from(crc64, value => Number(value >> 32n))
