import { Fault, isFault, unavailable, type Violation } from "@oaas/foundation";
import {
  annotationOf,
  controllerOf,
  fieldConflictsOf,
  gvkOf,
  hashJson,
  keyOf,
  refOf,
  type KubeObject,
  type Stored,
} from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import type { Problem } from "../lifecycle/observation.ts";
import { problem, problemFromFault } from "../lifecycle/problem.ts";
import { replicasHandOver } from "../templates/hand-over.ts";
import type { Manifest } from "../templates/index.ts";
import { childId, type ChildCache } from "./child-cache.ts";
import { contains } from "./contains.ts";
import type { ChildKind } from "./kinds.ts";
import { isKnatives } from "./shared-names.ts";
import { onServer } from "./stray-children.ts";

/** Says on each child what it was rendered as, so that a restart knows it without asking. */
export const HASH_ANNOTATION = "oaas.io/rendered-hash";

/** The manager of everything that the lifecycle writes. */
export const FIELD_MANAGER = "oprc-crm";

/** Holds the number of pods while an autoscaler takes it over. */
const SCALE_MANAGER = "oprc-crm-scale";

/** What became of the children of one class. */
export interface Applied {
  /** Each rendered child as it is in the cluster now. */
  readonly present: ReadonlyMap<string, Stored<KubeObject>>;
  readonly problems: readonly Problem[];
  /** A fault that trying again may mend. */
  readonly retry?: Fault;
  readonly written: number;
}

/** Children per class that are written at once. */
const AT_ONCE = 4;

/** Remembers, for each child, the version that our last apply left: that one needs no second look. */
export class ChildApplier {
  readonly #client: KubeClient;
  readonly #cache: ChildCache;
  readonly #left = new Map<string, { readonly hash: string; readonly resourceVersion: string }>();
  readonly #onWrite: (kind: string, outcome: "applied" | "skipped") => void;

  constructor(client: KubeClient, cache: ChildCache, onWrite: (kind: string, outcome: "applied" | "skipped") => void) {
    this.#client = client;
    this.#cache = cache;
    this.#onWrite = onWrite;
  }

  /** Brings every child to what was rendered, and writes only what is not so already. `known` are the uids of children that the class has. */
  async apply(
    children: readonly Manifest[],
    signal: AbortSignal,
    known: ReadonlySet<string> = new Set(),
  ): Promise<Applied> {
    const present = new Map<string, Stored<KubeObject>>();
    const problems: Problem[] = [];
    let retry: Fault | undefined;
    let written = 0;
    const waiting = [...children];
    const work = async (): Promise<void> => {
      for (let manifest = waiting.shift(); manifest; manifest = waiting.shift()) {
        const kind = this.#kindOf(manifest);
        if ("reason" in kind) {
          problems.push(kind);
          continue;
        }
        try {
          const outcome = await this.#applyOne(kind, manifest, signal, known);
          present.set(childId(kind, manifest), outcome.object);
          if (outcome.wrote) written += 1;
          this.#onWrite(kind.kind, outcome.wrote ? "applied" : "skipped");
        } catch (thrown) {
          const fault = Fault.from(thrown);
          problems.push(problemFromFault(fault, refOf(manifest)));
          if (fault.retryable || fault.kind === "internal") retry ??= fault;
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, children.length) }, work));
    return { present, problems, written, ...(retry ? { retry } : {}) };
  }

  /** Drops what is remembered about children that are gone. */
  forget(kind: ChildKind, object: KubeObject): void {
    this.#left.delete(childId(kind, object));
  }

  async #applyOne(
    kind: ChildKind,
    manifest: Manifest,
    signal: AbortSignal,
    known: ReadonlySet<string>,
  ): Promise<{ object: Stored<KubeObject>; wrote: boolean }> {
    // Without a view of what is there, every pass would write it anew.
    const refusal = this.#cache.refusalOf(kind, keyOf(manifest).namespace);
    if (refusal) throw refusal;
    const hash = hashJson(manifest);
    const marked = withAnnotation(manifest, HASH_ANNOTATION, hash);
    const there = this.#cache.get(kind, keyOf(manifest));
    if (there && !this.#differs(kind, there, marked, hash)) return { object: there, wrote: false };
    if (there && !wasOurs(there, known)) assertOurs(there, manifest);
    if (there) await this.#handOverReplicas(kind, marked, there, signal);
    const object = await this.#write(kind, marked, there !== undefined, signal);
    this.#left.set(childId(kind, object), { hash, resourceVersion: object.metadata.resourceVersion });
    return { object, wrote: true };
  }

  /** Where an autoscaler takes over, the number of pods must not fall in between. */
  async #handOverReplicas(
    kind: ChildKind,
    manifest: Manifest,
    there: Stored<KubeObject>,
    signal: AbortSignal,
  ): Promise<void> {
    // The cache has no managed fields; only a workload whose replicas we leave out is worth a read.
    if (replicasHandOver(manifest, there, FIELD_MANAGER) === undefined) return;
    const live = await this.#client.resource(kind).get(keyOf(there), { signal });
    const handOver = replicasHandOver(manifest, live, FIELD_MANAGER);
    if (handOver)
      await this.#client.resource(kind).apply(handOver, { fieldManager: SCALE_MANAGER, force: true, signal });
  }

  #differs(kind: ChildKind, there: Stored<KubeObject>, marked: Manifest, hash: string): boolean {
    if (annotationOf(there, HASH_ANNOTATION) !== hash) return true;
    const left = this.#left.get(childId(kind, there));
    if (left?.hash === hash && left.resourceVersion === there.metadata.resourceVersion) return false;
    return !contains(there, marked);
  }

  /**
   * Applies; takes fields back from those who merely updated them (an edit by hand is drift), but does not fight with another manager that
   * applies them too: that is a conflict for people to settle. What the cache does not know to be ours is looked at before anything is taken.
   */
  async #write(kind: ChildKind, manifest: Manifest, isOurs: boolean, signal: AbortSignal): Promise<Stored<KubeObject>> {
    const api = this.#client.resource(kind);
    try {
      return await api.apply(manifest, { fieldManager: FIELD_MANAGER, signal });
    } catch (thrown) {
      const conflicts = thrown instanceof Fault ? fieldConflictsOf(thrown) : [];
      // Only a manager that updates is told with the version it wrote by.
      const isDrift = conflicts.length > 0 && conflicts.every(({ apiVersion }) => apiVersion !== undefined);
      if (!isOurs && conflicts.length > 0)
        assertOurs(await onServer(this.#client, kind, keyOf(manifest), signal), manifest);
      if (!isDrift) throw thrown;
      return api.apply(manifest, { fieldManager: FIELD_MANAGER, force: true, signal });
    }
  }

  #kindOf(manifest: Manifest): ChildKind | Problem {
    const gvk = gvkOf(manifest);
    if (!gvk.ok) return problem("ApplyInvalid", violationMessage(gvk.error), refOf(manifest));
    const kind = this.#cache.kinds.find((known) => known.group === gvk.value.group && known.kind === gvk.value.kind);
    return (
      kind ??
      problem(
        "KindMissing",
        `the cluster does not serve ${manifest.apiVersion} ${manifest.kind}, or it may not be used for children`,
        refOf(manifest),
      )
    );
  }
}

function violationMessage({ path, message }: Violation): string {
  return `${path} ${message}`;
}

/** A child that somebody took the owner reference off is taken back, unless another one controls it now. */
function wasOurs(there: Stored<KubeObject>, known: ReadonlySet<string>): boolean {
  return known.has(there.metadata.uid) && controllerOf(there) === undefined;
}

/** An object of that name that belongs to nobody, or to someone else, is not taken over. */
function assertOurs(there: Stored<KubeObject> | undefined, manifest: Manifest): void {
  const owner = manifest.metadata.ownerReferences?.[0]?.uid;
  if (!there || (there.metadata.ownerReferences ?? []).some(({ uid }) => uid === owner)) return;
  if (isKnatives(there)) {
    const message = `${manifest.kind} ${manifest.metadata.name} is still Knative's; it goes with the Knative Service`;
    throw unavailable("the name", message, { retryAfterMs: 1_000 });
  }
  throw new Fault(
    { kind: "already-exists", resource: manifest.kind, name: manifest.metadata.name ?? "" },
    `${manifest.kind} ${manifest.metadata.name} belongs to someone else; remove it or rename the class`,
  );
}

function withAnnotation(manifest: Manifest, name: string, value: string): Manifest {
  const { metadata } = manifest;
  return { ...manifest, metadata: { ...metadata, annotations: { ...metadata.annotations, [name]: value } } };
}

/** Whether a fault only says that the thing is gone already. */
export function isGone(thrown: unknown): boolean {
  return isFault(thrown, "not-found");
}
