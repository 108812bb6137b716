/**
 * SHA-256 (FIPS 180-4) in plain JavaScript: synchronous, and the same in a browser as in Node. Where the platform has a synchronous one of its
 * own, as Node does and browsers do not, that is used: it takes a tenth of the time. For names and change detection, not for secrets: what is
 * here makes no attempt at constant time.
 */

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;
const UTF8 = new TextEncoder();

/** Worked out when the first digest is wanted: a program that wants none starts without. */
let constants: { readonly rounds: Uint32Array; readonly initial: Uint32Array } | undefined;

/** Written anew for every block. One for all calls, since none is interrupted by another. */
const SCHEDULE = new Uint32Array(64);

/** What Node's `crypto` has of use here. */
interface PlatformCrypto {
  hash(algorithm: string, text: string, encoding: "hex"): string;
}

// Asked for by name at run time: an import would keep the package out of browsers.
const { process: node } = globalThis as {
  readonly process?: { readonly getBuiltinModule?: (name: string) => PlatformCrypto | undefined };
};

let digestHex: ((text: string) => string) | undefined;

/** The digest of a text's UTF-8 bytes as 64 hexadecimal digits. */
export function sha256Hex(text: string): string {
  return (digestHex ??= bestDigest())(text);
}

function bestDigest(): (text: string) => string {
  const platform = node?.getBuiltinModule?.("node:crypto");
  return platform === undefined ? (text) => hexOf(sha256(text)) : (text) => platform.hash("sha256", text, "hex");
}

/** The 32-byte digest of a text's UTF-8 bytes. */
export function sha256(text: string): Uint8Array<ArrayBuffer> {
  const { rounds, initial } = (constants ??= { rounds: fractionBits(64, 3n), initial: fractionBits(8, 2n) });
  const blocks = padded(UTF8.encode(text));
  const state = initial.slice();
  for (let offset = 0; offset < blocks.byteLength; offset += BLOCK_BYTES) compress(state, rounds, blocks, offset);

  const digest = new DataView(new ArrayBuffer(32));
  for (let index = 0; index < state.length; index += 1) digest.setUint32(index * 4, at(state, index));
  return new Uint8Array(digest.buffer);
}

function hexOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/**
 * The first 32 bits of the fractional parts of the roots of the first primes: where the standard's constants come from.
 * In whole numbers, because `Math.cbrt` may differ in its last bits from engine to engine.
 */
function fractionBits(count: number, degree: bigint): Uint32Array {
  const words = new Uint32Array(count);
  let found = 0;
  for (let candidate = 2; found < count; candidate += 1) {
    if (!isPrime(candidate)) continue;
    words[found] = Number(BigInt.asUintN(32, wholeRoot(BigInt(candidate) << (32n * degree), degree)));
    found += 1;
  }
  return words;
}

function wholeRoot(value: bigint, degree: bigint): bigint {
  let low = 0n;
  let high = 1n << 40n;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle ** degree <= value) low = middle;
    else high = middle;
  }
  return low;
}

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) {
    if (candidate % divisor === 0) return false;
  }
  return true;
}

function padded(bytes: Uint8Array): DataView {
  const length = Math.ceil((bytes.length + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
  const out = new Uint8Array(length);
  out.set(bytes);
  out[bytes.length] = 0x80;
  const view = new DataView(out.buffer);
  view.setBigUint64(length - LENGTH_BYTES, BigInt(bytes.length) * 8n);
  return view;
}

function compress(state: Uint32Array, rounds: Uint32Array, blocks: DataView, offset: number): void {
  const w = SCHEDULE;
  for (let t = 0; t < 16; t += 1) w[t] = blocks.getUint32(offset + t * 4);
  for (let t = 16; t < 64; t += 1) {
    const early = at(w, t - 15);
    const late = at(w, t - 2);
    const sigma0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const sigma1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    w[t] = at(w, t - 16) + sigma0 + at(w, t - 7) + sigma1;
  }

  let a = at(state, 0);
  let b = at(state, 1);
  let c = at(state, 2);
  let d = at(state, 3);
  let e = at(state, 4);
  let f = at(state, 5);
  let g = at(state, 6);
  let h = at(state, 7);
  for (let t = 0; t < 64; t += 1) {
    const sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + sum1 + choice + at(rounds, t) + at(w, t)) | 0;
    const sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + sum0 + majority) | 0;
  }
  state[0] = at(state, 0) + a;
  state[1] = at(state, 1) + b;
  state[2] = at(state, 2) + c;
  state[3] = at(state, 3) + d;
  state[4] = at(state, 4) + e;
  state[5] = at(state, 5) + f;
  state[6] = at(state, 6) + g;
  state[7] = at(state, 7) + h;
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** Typed arrays of fixed size are never out of range here; the compiler cannot know. */
function at(words: Uint32Array, index: number): number {
  return words[index] ?? 0;
}
