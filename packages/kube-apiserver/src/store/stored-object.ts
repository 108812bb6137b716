import type { JsonObject } from "@oaas/kube-core";

/** Who knows how a stored object is to be read. */
interface Reader {
  readBack(object: JsonObject): JsonObject;
}

/**
 * An object as it was committed, for ever. Its text is made once, when the first reader needs it, and then shared by lists,
 * watches and single reads; versions of a kind differ only in the few characters that stand before it.
 */
export class StoredObject {
  readonly key: string;
  readonly revision: number;
  /** With `metadata.resourceVersion`, in the storage version. */
  readonly object: JsonObject;
  #tail: string | undefined;
  #read: { readonly reader: Reader; readonly object: JsonObject } | undefined;

  constructor(key: string, revision: number, object: JsonObject) {
    this.key = key;
    this.revision = revision;
    this.object = object;
  }

  /** The same object under a later revision, for those who may see it no longer. */
  at(revision: number): StoredObject {
    const metadata = { ...(this.object["metadata"] as JsonObject), resourceVersion: String(revision) };
    return new StoredObject(this.key, revision, { ...this.object, metadata });
  }

  /** The object as a reader of today has it: the definition of its kind may have changed since it was written. */
  readBy(reader: Reader): JsonObject {
    if (this.#read?.reader !== reader) this.#read = { reader, object: reader.readBack(this.object) };
    return this.#read.object;
  }

  /** Everything behind `apiVersion` and `kind`, with the closing brace: `"metadata":{…},…}`. */
  get tail(): string {
    if (this.#tail === undefined) {
      const { apiVersion: _version, kind: _kind, ...rest } = this.object;
      this.#tail = JSON.stringify(rest).slice(1);
    }
    return this.#tail;
  }
}

/** Where an object stands among its kind: in the order the real server lists them. Cluster-scoped ones have the empty namespace. */
export function objectKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
