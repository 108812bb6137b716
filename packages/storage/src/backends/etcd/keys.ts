import { isUtf8 } from "node:buffer";
import { internal } from "@oaas/foundation";
import type { KeyValue } from "../../gen/etcd_pb.ts";
import { prefixEnd, type KeyRange } from "../../port/key-order.ts";
import type { Entry } from "../../port/key-value-store.ts";

/** In etcd a single zero byte means an open range end, and the first key. */
const OPEN = Buffer.from([0]);

/** Converts keys to etcd keys: adds the prefix and encodes as UTF-8. */
export class KeySpace {
  readonly #prefix: string;
  readonly #prefixBytes: number;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.#prefixBytes = Buffer.byteLength(prefix);
  }

  key(key: string): Buffer {
    return Buffer.from(this.#prefix + key);
  }

  range(range: KeyRange): { readonly key: Buffer; readonly rangeEnd: Buffer } {
    const end = range.end === undefined ? prefixEnd(this.#prefix) : this.#prefix + range.end;
    const start = this.#prefix + range.start;
    return {
      key: start === "" ? OPEN : Buffer.from(start),
      rangeEnd: end === undefined ? OPEN : Buffer.from(end),
    };
  }

  name(key: Uint8Array): string {
    return text(key.subarray(this.#prefixBytes), "a key");
  }

  entry(pair: KeyValue): Entry {
    const key = this.name(pair.key);
    const entry = {
      key,
      value: text(pair.value, key),
      createRevision: Number(pair.createRevision),
      modRevision: Number(pair.modRevision),
      version: Number(pair.version),
    };
    return pair.lease === 0n ? entry : { ...entry, lease: String(pair.lease) };
  }
}

function text(bytes: Uint8Array, what: string): string {
  if (isUtf8(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  throw internal(`${what} in etcd is not UTF-8 text; another program wrote it`, { code: "OAAS_STORE_VALUE_INVALID" });
}
