import { classRuntime, type ClassRuntime } from "@oaas/contracts/crd";
import { isFault, type Clock } from "@oaas/foundation";
import { formatObjectKey, keyOf, type KubeObject, type Stored } from "@oaas/kube-core";
import type { Change, InformerView } from "@oaas/kube-runtime";
import { deploymentIdOf } from "../mapping/object-identity.ts";
import { readDeploymentRecord } from "../mapping/record/read-class-runtime.ts";
import type { ClassChange, ClassDirectory, StoredClass } from "./ports.ts";

/** An informer of class runtimes, or of records that stand for them. */
export type ClassInformer = Pick<InformerView<KubeObject>, "isSynced" | "onChange">;

/** The same for a kind that we may not be allowed to read: what is refused is nothing to wait for. */
export function whereAllowed(informer: InformerView<KubeObject>): ClassInformer {
  return {
    get isSynced() {
      return informer.isSynced || isFault(informer.trouble, "permission-denied");
    },
    onChange: (handler) => informer.onChange(handler),
  };
}

/** A write that no event has confirmed for so long was undone before anyone saw it. */
const UNCONFIRMED_MS = 30_000;

/**
 * The directory of class runtimes over informers.
 *
 * *Guarantees*: what this process wrote is found at once, before the watch tells of it. *Caveats*: what others write shows when the
 * watch does.
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
    for (const informer of informers) informer.onChange((change) => this.#follow(change));
  }

  get isSynced(): boolean {
    return this.#informers.every(({ isSynced }) => isSynced);
  }

  get size(): number {
    let unseen = 0;
    for (const key of this.#fresh().keys()) if (!this.#cached.has(key)) unseen += 1;
    return this.#cached.size + unseen;
  }

  find(deploymentId: string): readonly StoredClass[] {
    const keys = new Set(this.#keysById.get(deploymentId));
    for (const [key, { object }] of this.#fresh()) if (deploymentIdOf(object) === deploymentId) keys.add(key);
    const found = [...keys].flatMap((key) => this.#get(key) ?? []);
    return found.toSorted((a, b) => Number(a.writtenAs !== undefined) - Number(b.writtenAs !== undefined));
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

  /** Shows a write of our own until the watch tells of it. */
  noteWritten(object: StoredClass): void {
    const key = idOf(object);
    if (isAsNew(this.#cached.get(key), object)) return;
    this.#written.set(key, { object, at: this.#clock.monotonic() });
  }

  #get(key: string): StoredClass | undefined {
    return this.#written.get(key)?.object ?? this.#cached.get(key);
  }

  #keys(): Set<string> {
    return new Set([...this.#cached.keys(), ...this.#fresh().keys()]);
  }

  #fresh(): ReadonlyMap<string, { readonly object: StoredClass }> {
    const oldest = this.#clock.monotonic() - UNCONFIRMED_MS;
    for (const [key, { at }] of this.#written) if (at < oldest) this.#written.delete(key);
    return this.#written;
  }

  #follow(raw: Change<KubeObject>): void {
    const object = asClass(raw.object);
    const key = idOf(object);
    const written = this.#written.get(key)?.object;
    if (raw.type === "deleted" ? written?.metadata.uid === object.metadata.uid : isAsNew(object, written)) {
      this.#written.delete(key);
    }
    const previous = this.#cached.get(key);
    if (previous !== undefined) this.#unlist(key, previous);
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

  #unlist(key: string, object: StoredClass): void {
    const id = deploymentIdOf(object);
    const keys = this.#keysById.get(id);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysById.delete(id);
  }
}

/** A class runtime and a record may bear the same name. */
function idOf(object: StoredClass): string {
  return `${object.writtenAs ?? object.kind} ${formatObjectKey(keyOf(object))}`;
}

/** Whether one state of an object is the other or a later one. */
function isAsNew(state: StoredClass | undefined, other: StoredClass | undefined): boolean {
  if (state === undefined || other === undefined || state.metadata.uid !== other.metadata.uid) return false;
  return (state.metadata.generation ?? 0) >= (other.metadata.generation ?? 0);
}

/**
 * An object of the server as a class runtime. The server has checked it and filled in defaults already; only the nulls that an earlier manager
 * wrote are taken out here. What cannot be read even so shows with an empty spec.
 */
export function asClass(raw: Stored<KubeObject>): StoredClass {
  if (raw.kind === "DeploymentRecord") return recordAsClass(raw);
  if (!hasNull(raw)) return raw as unknown as StoredClass;
  const parsed = classRuntime.safeParse(raw);
  return (parsed.success ? parsed.data : withoutSpec(raw)) as StoredClass;
}

/** A record as the class it stands for, with its own status. */
function recordAsClass(raw: Stored<KubeObject>): StoredClass {
  const read = readDeploymentRecord(raw);
  return { ...(read.ok ? read.value : withoutSpec(raw)), writtenAs: "DeploymentRecord" } as StoredClass;
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
