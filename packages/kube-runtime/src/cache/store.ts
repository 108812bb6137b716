import { formatObjectKey, keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { Indexes, type IndexFunction } from "./indexes.ts";

/**
 * One change of an object. An update may refer to another object of the same name (different uid): the deletion in
 * between was missed.
 */
export type Change<T extends KubeObject> =
  | { readonly type: "added"; readonly object: Stored<T> }
  | { readonly type: "updated"; readonly object: Stored<T>; readonly previous: Stored<T> }
  | { readonly type: "deleted"; readonly object: Stored<T> };

/** The read view of a cache. Objects are shared: never change one. */
export interface CacheReader<T extends KubeObject, I extends string = never> {
  get(key: ObjectKey): Stored<T> | undefined;
  /** All objects, or those of one namespace. */
  list(namespace?: string): Iterable<Stored<T>>;
  byIndex(index: I, value: string): Stored<T>[];
  readonly size: number;
}

const NAMESPACE_INDEX = "\u0000namespace";

/**
 * The objects of one kind by key, with indexes.
 *
 * Guarantees: an object is replaced only by a different version, so a repeated event changes nothing and notifies no
 * handler.
 */
export class ObjectStore<T extends KubeObject, I extends string = never> implements CacheReader<T, I> {
  readonly #objects = new Map<string, Stored<T>>();
  readonly #indexes: Indexes<Stored<T>, string>;

  constructor(indexes: Readonly<Record<I, IndexFunction<Stored<T>>>>) {
    this.#indexes = new Indexes<Stored<T>, string>({
      ...(indexes as Readonly<Record<string, IndexFunction<Stored<T>>>>),
      [NAMESPACE_INDEX]: (object) => [object.metadata.namespace ?? ""],
    });
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): Stored<T> | undefined {
    return this.#objects.get(formatObjectKey(key));
  }

  list(namespace?: string): Iterable<Stored<T>> {
    return namespace === undefined
      ? this.#objects.values()
      : this.#read(this.#indexes.keys(NAMESPACE_INDEX, namespace));
  }

  byIndex(index: I, value: string): Stored<T>[] {
    return this.#read(this.#indexes.keys(index, value));
  }

  /** Stores an object; returns the change, if any. */
  put(object: Stored<T>): Change<T> | undefined {
    const key = formatObjectKey(keyOf(object));
    const previous = this.#objects.get(key);
    if (previous && previous.metadata.resourceVersion === object.metadata.resourceVersion) return undefined;
    this.#objects.set(key, object);
    this.#indexes.move(key, previous, object);
    return previous ? { type: "updated", object, previous } : { type: "added", object };
  }

  /** Removes an object; `last` is its state at deletion, if known. */
  remove(key: ObjectKey, last?: Stored<T>): Change<T> | undefined {
    const text = formatObjectKey(key);
    const previous = this.#objects.get(text);
    if (!previous) return undefined;
    this.#objects.delete(text);
    this.#indexes.move(text, previous, undefined);
    return { type: "deleted", object: last ?? previous };
  }

  /** Replaces the contents; returns the changes. */
  replace(objects: readonly Stored<T>[]): Change<T>[] {
    const kept = new Set(objects.map((object) => formatObjectKey(keyOf(object))));
    const gone = [...this.#objects].filter(([key]) => !kept.has(key)).map(([, object]) => object);
    const changes = gone.map((object) => this.remove(keyOf(object)));
    // No spread: a call takes about a hundred thousand arguments, and a cluster can have more objects.
    for (const object of objects) changes.push(this.put(object));
    return changes.filter((change) => change !== undefined);
  }

  #read(keys: Iterable<string>): Stored<T>[] {
    const found: Stored<T>[] = [];
    for (const key of keys) {
      const object = this.#objects.get(key);
      if (object) found.push(object);
    }
    return found;
  }
}
