import { Fault, isFault, unavailable, type Violation } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import {
  annotationOf,
  controllerOf,
  fieldConflictsOf,
  gvkOf,
  keyOf,
  refOf,
  type KubeObject,
  type Stored,
} from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import type { Problem } from "../../lifecycle/observation/observation.ts";
import { problem, problemFromFault } from "../../lifecycle/observation/problem.ts";
import { replicasHandOver } from "../../rendering/workloads/replicas-handover.ts";
import { OWNER_LABEL, type Manifest } from "../../templates/index.ts";
import { childId, type ChildCache } from "./child-cache.ts";
import type { ChildKind } from "../kinds/resource-types.ts";
import { FIELD_MANAGER, isAbandoned, isOwnedBy } from "./ownership.ts";
import { isKnatives } from "./knative-names.ts";
import { onServer } from "./stray-children.ts";

/** Says on each child what it was rendered as, so that a restart knows it without asking. */
export const HASH_ANNOTATION = "oaas.io/rendered-hash";

/** No object ever has this version: an apply that asks for it makes the object, and is refused where there is one already. */
const NO_VERSION = "1";

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

/** What goes with every child of one call. */
interface Pass {
  readonly signal: AbortSignal;
  /** The uids of children that the class has. */
  readonly known: ReadonlySet<string>;
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
          const outcome = await this.#applyOne(kind, manifest, { signal, known });
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
    pass: Pass,
  ): Promise<{ object: Stored<KubeObject>; wrote: boolean }> {
    // Without a view of what is there, every pass would write it anew.
    const refusal = this.#cache.refusalOf(kind, keyOf(manifest).namespace);
    if (refusal) throw refusal;
    const hash = hashJson(manifest);
    const marked = withAnnotation(manifest, HASH_ANNOTATION, hash);
    const there = await this.#find(kind, manifest, pass.signal);
    if (there && !this.#differs(kind, there, marked, hash)) return { object: there, wrote: false };
    const object = there ? await this.#update(kind, marked, there, pass) : await this.#create(kind, marked, pass);
    this.#left.set(childId(kind, object), { hash, resourceVersion: object.metadata.resourceVersion });
    return { object, wrote: true };
  }

  /** As the cache has it. What we have made and the cache does not show may be about to come, or gone: the server knows. */
  async #find(kind: ChildKind, manifest: Manifest, signal: AbortSignal): Promise<Stored<KubeObject> | undefined> {
    const cached = this.#cache.get(kind, keyOf(manifest));
    if (cached || !this.#left.has(childId(kind, manifest))) return cached;
    return onServer(this.#client, kind, keyOf(manifest), signal);
  }

  /** Makes it in one call that touches nothing which is there already; what is, is looked at first. */
  async #create(kind: ChildKind, manifest: Manifest, pass: Pass): Promise<Stored<KubeObject>> {
    const { signal } = pass;
    const fresh = { ...manifest, metadata: { ...manifest.metadata, resourceVersion: NO_VERSION } };
    try {
      return await this.#client.resource(kind).apply(fresh, { fieldManager: FIELD_MANAGER, signal });
    } catch (thrown) {
      if (!isFault(thrown, "conflict") && conflictsIn(thrown).length === 0) throw thrown;
    }
    const there = await onServer(this.#client, kind, keyOf(manifest), signal);
    return there ? this.#update(kind, manifest, there, pass) : this.#write(kind, manifest, signal);
  }

  async #update(
    kind: ChildKind,
    manifest: Manifest,
    there: Stored<KubeObject>,
    { signal, known }: Pass,
  ): Promise<Stored<KubeObject>> {
    const wasOurs = known.has(there.metadata.uid) && controllerOf(there) === undefined;
    if (!wasOurs && !isOwnedBy(there, ownerOf(manifest)))
      assertAbandoned(await onServer(this.#client, kind, keyOf(manifest), signal), manifest);
    await this.#handOverReplicas(kind, manifest, there, signal);
    return this.#write(kind, manifest, signal);
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
   * applies them too: that is a conflict for people to settle.
   */
  async #write(kind: ChildKind, manifest: Manifest, signal: AbortSignal): Promise<Stored<KubeObject>> {
    const api = this.#client.resource(kind);
    try {
      return await api.apply(manifest, { fieldManager: FIELD_MANAGER, signal });
    } catch (thrown) {
      const conflicts = conflictsIn(thrown);
      // Only a manager that updates is told with the version it wrote by.
      const isDrift = conflicts.length > 0 && conflicts.every(({ apiVersion }) => apiVersion !== undefined);
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

function conflictsIn(thrown: unknown): ReturnType<typeof fieldConflictsOf> {
  return thrown instanceof Fault ? fieldConflictsOf(thrown) : [];
}

/** The uid of the class. */
function ownerOf(manifest: Manifest): string {
  return manifest.metadata.ownerReferences?.[0]?.uid ?? "";
}

/** A child that somebody took the owner reference off is taken back; an object of that name that was never ours is not touched. */
function assertAbandoned(there: Stored<KubeObject> | undefined, manifest: Manifest): void {
  const label = manifest.metadata.labels?.[OWNER_LABEL] ?? "";
  if (!there || isOwnedBy(there, ownerOf(manifest)) || isAbandoned(there, label)) return;
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

/**
 * Whether what is there has everything that was rendered, with the same values. The server may have added more: defaults, fields of other
 * managers. Lists are compared position by position, as the server keeps the order of what one manager applied.
 */
export function contains(there: unknown, rendered: unknown): boolean {
  if (Array.isArray(rendered)) {
    return (
      Array.isArray(there) &&
      there.length === rendered.length &&
      rendered.every((item, index) => contains(there[index], item))
    );
  }
  if (typeof rendered === "object" && rendered !== null) {
    if (typeof there !== "object" || there === null || Array.isArray(there)) return false;
    return Object.entries(rendered).every(([member, value]) =>
      contains((there as Record<string, unknown>)[member], value),
    );
  }
  return Object.is(there, rendered);
}
