import type { JsonObject } from "@oaas/kube-core";

/** Knows how to read a stored object. */
interface Reader {
  readBack(object: JsonObject): JsonObject;
}

/**
 * A committed, immutable object. Its text is created once, on first use, and shared by lists, watches and reads;
 * versions of a kind differ only in the prefix.
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

  /** The same object with a later revision, for watchers whose selector it left. */
  at(revision: number): StoredObject {
    const metadata = { ...(this.object["metadata"] as JsonObject), resourceVersion: String(revision) };
    return new StoredObject(this.key, revision, { ...this.object, metadata });
  }

  /** The object as read today: the definition of its kind may have changed since. */
  readBy(reader: Reader): JsonObject {
    if (this.#read?.reader !== reader) this.#read = { reader, object: reader.readBack(this.object) };
    return this.#read.object;
  }

  /** Everything after `apiVersion` and `kind`, with the closing brace: `"metadata":{…},…}`. */
  get tail(): string {
    if (this.#tail === undefined) {
      const { apiVersion: _version, kind: _kind, ...rest } = this.object;
      this.#tail = JSON.stringify(rest).slice(1);
    }
    return this.#tail;
  }
}

/** The sort key of an object: in the order of the real server's lists. Cluster-scoped ones have the empty namespace. */
export function objectKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
