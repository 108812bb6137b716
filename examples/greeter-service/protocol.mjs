// Hand-written codec of oprc.OprcFunction (packages/contracts/proto/oprc-invoke.proto), so that the service needs only Node.

/** The response status codes of the protocol. */
export const STATUS = { okay: 0, invalidRequest: 1, appError: 2, systemError: 3 };

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/**
 * Decodes InvocationRequest and ObjectInvocationRequest, which has one more field.
 * @param {Uint8Array} bytes
 */
export function readRequest(bytes) {
  const request = {
    cls: "",
    fn: "",
    payload: new Uint8Array(0),
    object: /** @type {string | undefined} */ (undefined),
  };
  for (const { field, value } of fieldsOf(bytes)) {
    if (!(value instanceof Uint8Array)) continue;
    if (field === 3) request.cls = utf8(value);
    else if (field === 4) request.fn = utf8(value);
    else if (field === 6) request.payload = value;
    else if (field === 7) request.object = utf8(value);
  }
  return request;
}

/**
 * InvocationResponse.
 * @param {{ payload: Uint8Array, status: number, headers?: Readonly<Record<string, string>> }} response
 */
export function writeResponse({ payload, status, headers = {} }) {
  const parts = [bytesField(1, payload)];
  // Protobuf omits default values.
  if (status !== 0) parts.push(Uint8Array.of((2 << 3) | VARINT, status));
  for (const [name, value] of Object.entries(headers)) {
    const entry = concat([
      bytesField(1, new TextEncoder().encode(name)),
      bytesField(2, new TextEncoder().encode(value)),
    ]);
    parts.push(bytesField(3, entry));
  }
  return concat(parts);
}

/**
 * Yields all fields of a message; skips unknown ones.
 * @param {Uint8Array} bytes
 */
function* fieldsOf(bytes) {
  let at = 0;
  const varint = () => {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = bytes[at];
      if (byte === undefined || shift > 63n) throw new RangeError("the message ends within a number");
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
      shift += 7n;
    }
  };
  const take = (/** @type {number} */ length) => {
    if (at + length > bytes.length) throw new RangeError("the message ends within a field");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const [field, wire] = [key >>> 3, key & 7];
    if (field === 0) throw new RangeError("a field has no number");
    if (wire === VARINT) yield { field, value: varint() };
    else if (wire === BYTES) yield { field, value: take(Number(varint())) };
    else if (wire === FIXED64 || wire === FIXED32) take(wire === FIXED64 ? 8 : 4);
    else throw new RangeError(`unknown wire type ${wire}`);
  }
}

/**
 * @param {number} field
 * @param {Uint8Array} value
 */
function bytesField(field, value) {
  const head = [(field << 3) | BYTES];
  let length = value.length;
  while (length > 0x7f) {
    head.push((length & 0x7f) | 0x80);
    length >>>= 7;
  }
  return concat([Uint8Array.from([...head, length]), value]);
}

/** @param {readonly Uint8Array[]} parts */
function concat(parts) {
  return new Uint8Array(Buffer.concat(parts));
}

/** @param {Uint8Array} bytes */
function utf8(bytes) {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}
