import { classRuntime, type ClassRuntime } from "@oaas/contracts/crd";
import { isFault, type Clock } from "@oaas/foundation";
import { formatObjectKey, keyOf, type KubeObject, type Stored } from "@oaas/kube-core";
import type { Change, InformerView } from "@oaas/kube-runtime";
import { deploymentIdOf } from "../mapping/object-identity.ts";
import { readDeploymentRecord } from "../mapping/record/read-class-runtime.ts";
import type { ClassChange, ClassDirectory, StoredClass } from "./ports.ts";

/** An informer of class runtimes or deployment records. */
export type ClassInformer = Pick<InformerView<KubeObject>, "isSynced" | "onChange">;

/** Treats an informer without read permission as synced, so that an optional kind does not block readiness. */
export function ignoreForbidden(informer: InformerView<KubeObject>): ClassInformer {
  return {
    get isSynced() {
      return informer.isSynced || isFault(informer.fault, "permission-denied");
    },
    onChange: (handler) => informer.onChange(handler),
  };
}

/** A write without a watch event for this long was reverted. */
const UNCONFIRMED_WRITE_MS = 30_000;

/**
 * Indexes class runtimes from informers. Own writes are visible at once; writes of other processes when the watch
 * delivers them.
 */
export class KubeClassDirectory implements ClassDirectory {
  readonly #informers: readonly ClassInformer[];
  readonly #clock: Clock;
  readonly #cached = new Map<string, StoredClass>();
  readonly #keysById = new Map<string, Set<string>>();
  readonly #written = new Map<string, { readonly object: StoredClass; readonly at: number }>();
  #handlers: readonly ((change: ClassChange) => void)[] = [];

  constructor(informers: readonly ClassInformer[], clock: Clock) {
    this.#informers = informers;
    this.#clock = clock;
    for (const informer of informers) informer.onChange((change) => this.#handleChange(change));
  }

  get isSynced(): boolean {
    return this.#informers.every(({ isSynced }) => isSynced);
  }

  get size(): number {
    let uncached = 0;
    for (const key of this.#unconfirmedWrites().keys()) if (!this.#cached.has(key)) uncached += 1;
    return this.#cached.size + uncached;
  }

  find(deploymentId: string): readonly StoredClass[] {
    const keys = new Set(this.#keysById.get(deploymentId));
    for (const [key, { object }] of this.#unconfirmedWrites())
      if (deploymentIdOf(object) === deploymentId) keys.add(key);
    const found = [...keys].flatMap((key) => this.#get(key) ?? []);
    return found.toSorted((a, b) => Number(a.storedAs !== undefined) - Number(b.storedAs !== undefined));
  }

  *list(): Iterable<StoredClass> {
    for (const key of this.#keys()) {
      const object = this.#get(key);
      if (object !== undefined) yield object;
    }
  }

  onChange(handler: (change: ClassChange) => void): () => void {
    for (const object of this.#cached.values()) handler({ type: "added", object });
    this.#handlers = [...this.#handlers, handler];
    return () => {
      this.#handlers = this.#handlers.filter((each) => each !== handler);
    };
  }

  /** Makes an own write visible until the watch delivers it. */
  recordWrite(object: StoredClass): void {
    const key = idOf(object);
    if (isNotOlder(this.#cached.get(key), object)) return;
    this.#written.set(key, { object, at: this.#clock.monotonic() });
  }

  #get(key: string): StoredClass | undefined {
    return this.#written.get(key)?.object ?? this.#cached.get(key);
  }

  #keys(): Set<string> {
    return new Set([...this.#cached.keys(), ...this.#unconfirmedWrites().keys()]);
  }

  #unconfirmedWrites(): ReadonlyMap<string, { readonly object: StoredClass }> {
    const oldest = this.#clock.monotonic() - UNCONFIRMED_WRITE_MS;
    for (const [key, { at }] of this.#written) if (at < oldest) this.#written.delete(key);
    return this.#written;
  }

  #handleChange(raw: Change<KubeObject>): void {
    const object = toStoredClass(raw.object);
    const key = idOf(object);
    const written = this.#written.get(key)?.object;
    if (raw.type === "deleted" ? written?.metadata.uid === object.metadata.uid : isNotOlder(object, written)) {
      this.#written.delete(key);
    }
    const previous = this.#cached.get(key);
    if (previous !== undefined) this.#removeId(key, previous);
    if (raw.type === "deleted") this.#cached.delete(key);
    else {
      this.#cached.set(key, object);
      const id = deploymentIdOf(object);
      this.#keysById.set(id, (this.#keysById.get(id) ?? new Set()).add(key));
    }
    const change: ClassChange =
      raw.type === "updated" ? { type: "updated", object, previous: previous ?? object } : { type: raw.type, object };
    for (const handler of this.#handlers) handler(change);
  }

  #removeId(key: string, object: StoredClass): void {
    const id = deploymentIdOf(object);
    const keys = this.#keysById.get(id);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysById.delete(id);
  }
}

/** Includes the kind: a class runtime and a record may have the same name. */
function idOf(object: StoredClass): string {
  return `${object.storedAs ?? object.kind} ${formatObjectKey(keyOf(object))}`;
}

/** Whether `state` is the same generation of an object as `other`, or a later one. */
function isNotOlder(state: StoredClass | undefined, other: StoredClass | undefined): boolean {
  if (state === undefined || other === undefined || state.metadata.uid !== other.metadata.uid) return false;
  return (state.metadata.generation ?? 0) >= (other.metadata.generation ?? 0);
}

/**
 * Converts an object of the API server to a class runtime. The server has validated it and applied defaults; only nulls
 * of earlier releases are removed. An object that does not parse gets an empty spec.
 */
export function toStoredClass(raw: Stored<KubeObject>): StoredClass {
  if (raw.kind === "DeploymentRecord") return recordToStoredClass(raw);
  if (!hasNull(raw)) return raw as unknown as StoredClass;
  const parsed = classRuntime.safeParse(raw);
  return (parsed.success ? parsed.data : withoutSpec(raw)) as StoredClass;
}

/** Converts a deployment record, with its own status. */
function recordToStoredClass(raw: Stored<KubeObject>): StoredClass {
  const read = readDeploymentRecord(raw);
  return { ...(read.ok ? read.value : withoutSpec(raw)), storedAs: "DeploymentRecord" } as StoredClass;
}

function withoutSpec({ metadata, ...raw }: Stored<KubeObject>): ClassRuntime {
  const { status } = raw as { readonly status?: ClassRuntime["status"] };
  return {
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: metadata as never,
    spec: {},
    ...(status ? { status } : {}),
  };
}

function hasNull(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value !== "object") return false;
  return Object.values(value).some(hasNull);
}
