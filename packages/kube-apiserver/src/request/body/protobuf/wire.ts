/** One field of a message: its number, and its value by wire type. */
export interface WireField {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

/** Invalid message. */
export class WireError extends Error {}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** The fields of a message in order. */
export function* readFields(bytes: Uint8Array): Generator<WireField> {
  const reader = { bytes, at: 0 };
  while (reader.at < bytes.length) {
    const tag = Number(readVarint(reader));
    yield { number: tag >> 3, value: readValue(reader, tag & 7) };
  }
}

interface Reader {
  readonly bytes: Uint8Array;
  at: number;
}

function readValue(reader: Reader, form: number): bigint | Uint8Array {
  switch (form) {
    case VARINT:
      return readVarint(reader);
    case BYTES:
      return readBytes(reader, Number(readVarint(reader)));
    case FIXED64:
      return readBytes(reader, 8);
    case FIXED32:
      return readBytes(reader, 4);
    default:
      throw new WireError(`proto: illegal wireType ${form}`);
  }
}

function readBytes(reader: Reader, length: number): Uint8Array {
  const end = reader.at + length;
  if (!Number.isSafeInteger(end) || end > reader.bytes.length) throw new WireError("unexpected EOF");
  const part = reader.bytes.subarray(reader.at, end);
  reader.at = end;
  return part;
}

function readVarint(reader: Reader): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = reader.bytes[reader.at];
    if (byte === undefined) throw new WireError("unexpected EOF");
    reader.at += 1;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return BigInt.asIntN(64, value);
  }
  throw new WireError("proto: integer overflow");
}
