import { classRuntime, type ClassRuntimeInput } from "@oaas/contracts/crd";
import { conflict, notFound, type Fault } from "@oaas/foundation";
import { formatObjectKey, keyOf, type ObjectKey } from "@oaas/kube-core";
import { deploymentIdOf } from "../../mapping/object-identity.ts";
import type { UnitObject } from "../../mapping/unit/unit-to-class-runtime.ts";
import type { ClassChange, ClassDirectory, ClassStore, StoredClass } from "../ports.ts";

/** Class runtimes in memory, with the versioning of the API server, for tests of the services. */
export class MemoryClasses implements ClassDirectory, ClassStore {
  isSynced = true;
  /** All writes in order. */
  readonly writes: string[] = [];
  /** Faults of the next writes, in order; undefined succeeds. */
  readonly failures: (Fault | undefined)[] = [];
  /** Called before each response, with the signal of the call. */
  onCall: (call: string, signal: AbortSignal) => Promise<void> = async () => undefined;
  readonly #objects = new Map<string, StoredClass>();
  readonly #handlers = new Set<(change: ClassChange) => void>();
  #version = 0;

  get size(): number {
    return this.#objects.size;
  }

  find(deploymentId: string): readonly StoredClass[] {
    return [...this.#objects.values()].filter((object) => deploymentIdOf(object) === deploymentId);
  }

  list(): Iterable<StoredClass> {
    return this.#objects.values();
  }

  onChange(handler: (change: ClassChange) => void): () => void {
    for (const object of this.#objects.values()) handler({ type: "added", object });
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  async read(key: ObjectKey, signal: AbortSignal): Promise<StoredClass | undefined> {
    await this.onCall("read", signal);
    return this.#objects.get(formatObjectKey(key));
  }

  async write({ manifest }: UnitObject, over: StoredClass | undefined, signal: AbortSignal): Promise<StoredClass> {
    await this.onCall("write", signal);
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const { namespace = "", name } = manifest.metadata;
    const current = this.#objects.get(formatObjectKey({ namespace, name }));
    if (current?.metadata.resourceVersion !== over?.metadata.resourceVersion) throw conflict("class runtime", name);
    this.writes.push(`${over === undefined ? "create" : "update"} ${namespace}/${name}`);
    return this.put(manifest);
  }

  async check(_unit: UnitObject, _over: StoredClass | undefined, signal: AbortSignal): Promise<void> {
    await this.onCall("check", signal);
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
  }

  async remove(object: StoredClass, signal: AbortSignal): Promise<void> {
    await this.onCall("remove", signal);
    const current = this.#objects.get(formatObjectKey(keyOf(object)));
    if (current === undefined) throw notFound("class runtime", object.metadata.name);
    if (current.metadata.uid !== object.metadata.uid) throw conflict("class runtime", object.metadata.name);
    this.writes.push(`delete ${formatObjectKey(keyOf(object))}`);
    this.put({
      ...current,
      metadata: { ...current.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
    } as ClassRuntimeInput);
  }

  /** Stores an object as another client would, and notifies the handlers. */
  put(input: ClassRuntimeInput): StoredClass {
    const key = formatObjectKey({ namespace: input.metadata.namespace ?? "", name: input.metadata.name });
    const previous = this.#objects.get(key);
    this.#version += 1;
    const object = classRuntime.parse({
      ...input,
      ...(input.status === undefined && previous?.status !== undefined ? { status: previous.status } : {}),
      metadata: {
        creationTimestamp: "2026-01-01T00:00:00Z",
        ...input.metadata,
        uid: previous?.metadata.uid ?? `uid-${this.#version}`,
        resourceVersion: String(this.#version),
        generation: (previous?.metadata.generation ?? 0) + 1,
      },
    }) as StoredClass;
    this.#objects.set(key, object);
    this.#notify(previous === undefined ? { type: "added", object } : { type: "updated", object, previous });
    return object;
  }

  /** Removes an object, as after its last finalizer. */
  drop(key: ObjectKey): void {
    const object = this.#objects.get(formatObjectKey(key));
    if (object === undefined) return;
    this.#objects.delete(formatObjectKey(key));
    this.#notify({ type: "deleted", object });
  }

  #notify(change: ClassChange): void {
    for (const handler of this.#handlers) handler(change);
  }
}
