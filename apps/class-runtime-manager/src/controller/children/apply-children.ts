import { Fault, isFault, unavailable, type Clock, type Violation } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import {
  annotationOf,
  controllerOf,
  fieldConflictsOf,
  gvkOf,
  keyOf,
  refOf,
  type KubeObject,
  type ObjectKey,
  type Stored,
} from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import type { Problem } from "../../lifecycle/observation/observation.ts";
import { problem, problemFromFault } from "../../lifecycle/observation/problem.ts";
import { driftFields, findEdit } from "../../lifecycle/status/drift-fields.ts";
import type { Correction } from "../../lifecycle/status/drift-record.ts";
import { replicasHandover, withoutReplicas } from "../../rendering/workloads/replicas-handover.ts";
import { OWNER_LABEL, type Manifest } from "../../templates/index.ts";
import { childId, type ChildCache } from "./child-cache.ts";
import { createForeignScalerFinder, type FindForeignScaler } from "./foreign-scaler.ts";
import type { ChildKind } from "../kinds/resource-types.ts";
import { FIELD_MANAGER, isOrphaned, isOwnedBy } from "./ownership.ts";
import { isOwnedByKnative } from "./knative-names.ts";
import { readFromServer } from "./stray-children.ts";
import { isNewer } from "./resource-versions.ts";

/** Holds the hash of the rendered manifest, so that a restarted manager knows which children are current. */
export const HASH_ANNOTATION = "oaas.io/rendered-hash";

/** A resource version that no object has: an apply with it creates the object, or conflicts with an existing one. */
const CREATE_ONLY_VERSION = "1";

/** The uid of an owner that does not exist yet, in a dry run. */
const UNKNOWN_UID = "00000000-0000-0000-0000-000000000000";

/** Field manager that owns the replica count until an autoscaler takes it over. */
const SCALE_MANAGER = "oprc-crm-scale";

/** The replicas of a workload as a field conflict names them. */
const REPLICAS_FIELD = ".spec.replicas";

const OWN_MANAGERS: ReadonlySet<string> = new Set([FIELD_MANAGER, SCALE_MANAGER]);

/** The correction of a child that another client deleted. */
const DELETED = { fields: [{ path: "", was: "deleted", now: "present" }], moreFields: 0 };

/** The result of applying the children of one class. */
export interface ApplyResult {
  /** The applied children as the server returned them, by child id. */
  readonly live: ReadonlyMap<string, Stored<KubeObject>>;
  readonly problems: readonly Problem[];
  /** A fault worth a retry. */
  readonly retry?: Fault;
  /** How many children had to be written. */
  readonly written: number;
  /** Children that another client had changed or deleted. */
  readonly corrections: readonly Correction[];
}

/** What applying one child would do. */
export type ChildPreview =
  | { readonly change: "create" | "unchanged" }
  /** The object before and after the update; `updated` is absent where the server allows no dry run. */
  | { readonly change: "update"; readonly live: Stored<KubeObject>; readonly updated?: Stored<KubeObject> }
  | { readonly change: "blocked"; readonly problem: string };

/** Context of one call to `apply`. */
interface ApplyContext {
  readonly signal: AbortSignal;
  /** Uids of the children that the status of the class lists. */
  readonly known: ReadonlySet<string>;
}

/** The last write of a child by this process. */
interface LastApplied {
  readonly hash: string;
  readonly resourceVersion: string;
  /** Kept for ConfigMaps, which decide how the class is rendered next. */
  readonly object?: Stored<KubeObject>;
}

/** What an applier counts. */
export interface ApplyListeners {
  onWrite(kind: string, outcome: "applied" | "skipped"): void;
  onCorrection(kind: string): void;
}

/** Children of one class that are written in parallel. */
const MAX_PARALLEL_WRITES = 4;

/**
 * Applies rendered children. Remembers the resource version of each apply, so that an unchanged child is not compared
 * again.
 */
export class ChildApplier {
  readonly #client: KubeClient;
  readonly #cache: ChildCache;
  readonly #findForeignScaler: FindForeignScaler;
  readonly #lastApplied = new Map<string, LastApplied>();
  readonly #clock: Clock;
  readonly #listeners: ApplyListeners;

  constructor(client: KubeClient, cache: ChildCache, clock: Clock, listeners: ApplyListeners) {
    this.#client = client;
    this.#cache = cache;
    this.#findForeignScaler = createForeignScalerFinder(client, cache);
    this.#clock = clock;
    this.#listeners = listeners;
  }

  /**
   * Writes the children that differ from the cluster. `known` are the uids of the children that the status of the class
   * lists.
   */
  async apply(
    children: readonly Manifest[],
    signal: AbortSignal,
    known: ReadonlySet<string> = new Set(),
  ): Promise<ApplyResult> {
    const live = new Map<string, Stored<KubeObject>>();
    const problems: Problem[] = [];
    let retry: Fault | undefined;
    let written = 0;
    const corrections: Correction[] = [];
    const isConfig = ({ kind }: Manifest): boolean => kind === "ConfigMap";
    const queue: Manifest[] = [];
    const applyQueued = async (): Promise<void> => {
      for (let manifest = queue.shift(); manifest; manifest = queue.shift()) {
        const kind = this.#kindOf(manifest);
        if ("reason" in kind) {
          problems.push(kind);
          continue;
        }
        try {
          const { object, wrote, correction } = await this.#applyOne(kind, manifest, { signal, known });
          live.set(childId(kind, manifest), object);
          if (wrote) written += 1;
          this.#listeners.onWrite(kind.kind, wrote ? "applied" : "skipped");
          if (correction === undefined) continue;
          corrections.push(correction);
          this.#listeners.onCorrection(kind.kind);
        } catch (thrown) {
          const fault = Fault.from(thrown);
          problems.push(problemFromFault(fault, refOf(manifest)));
          if (fault.retryable || fault.kind === "internal") retry ??= fault;
        }
      }
    };
    const applyAll = async (some: readonly Manifest[]): Promise<void> => {
      queue.push(...some);
      await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL_WRITES, some.length) }, applyQueued));
    };
    // A ConfigMap records the layout of a state store, so it is stored before pods use that layout.
    await applyAll(children.filter(isConfig));
    if (problems.length === 0) await applyAll(children.filter((child) => !isConfig(child)));
    return { live, problems, written, corrections, ...(retry ? { retry } : {}) };
  }

  /**
   * What `apply` would do with a child, decided by the same comparison and without writing. A child that is not as
   * rendered is read from the server, because the cache may be older.
   */
  async preview(
    manifest: Manifest,
    signal: AbortSignal,
    known: ReadonlySet<string> = new Set(),
  ): Promise<ChildPreview> {
    const kind = this.#kindOf(manifest);
    if ("reason" in kind) return { change: "blocked", problem: kind.message };
    const readFault = this.#cache.readFaultOf(kind, keyOf(manifest).namespace);
    if (readFault) return { change: "blocked", problem: readFault.message };
    const hash = hashJson(manifest);
    const marked = withAnnotation(manifest, HASH_ANNOTATION, hash);
    const found = await this.#find(kind, manifest, signal);
    if (found && !this.#differs(kind, found, marked, hash)) return { change: "unchanged" };
    const live = await readFromServer(this.#client, kind, keyOf(manifest), signal);
    if (live === undefined) return this.#previewCreate(kind, marked, signal);
    if (!this.#differs(kind, live, marked, hash)) return { change: "unchanged" };
    const wasOurs = known.has(live.metadata.uid) && controllerOf(live) === undefined;
    const fault = wasOurs ? undefined : adoptionFault(live, manifest);
    return fault === undefined
      ? this.#previewUpdate(kind, marked, live, signal)
      : { change: "blocked", problem: fault.message };
  }

  /** The ConfigMap in the cache, or as this process wrote it while the cache lags behind. */
  newestConfigMap(key: ObjectKey): Stored<KubeObject> | undefined {
    const kind = this.#cache.kinds.find((one) => one.group === "" && one.kind === "ConfigMap");
    if (kind === undefined) return undefined;
    const cached = this.#cache.get(kind, key);
    const id = childId(kind, { apiVersion: "v1", kind: "ConfigMap", metadata: key });
    const own = this.#lastApplied.get(id)?.object;
    if (own === undefined || (cached && !isNewer(own, cached))) return cached;
    return own;
  }

  /** Forgets the last apply of a deleted child. */
  forget(kind: ChildKind, object: KubeObject): void {
    this.#lastApplied.delete(childId(kind, object));
  }

  async #applyOne(
    kind: ChildKind,
    manifest: Manifest,
    context: ApplyContext,
  ): Promise<{ object: Stored<KubeObject>; wrote: boolean; correction?: Correction | undefined }> {
    // Without read permission every pass would write the child again.
    const readFault = this.#cache.readFaultOf(kind, keyOf(manifest).namespace);
    if (readFault) throw readFault;
    const hash = hashJson(manifest);
    const marked = withAnnotation(manifest, HASH_ANNOTATION, hash);
    const found = await this.#find(kind, manifest, context.signal);
    if (found && !this.#differs(kind, found, marked, hash)) return { object: found, wrote: false };
    const wasApplied =
      this.#lastApplied.get(childId(kind, manifest))?.hash === hash ||
      (found !== undefined && annotationOf(found, HASH_ANNOTATION) === hash);
    // The cache may be older than our last write, and it holds no managed fields.
    const live =
      found && wasApplied ? await readFromServer(this.#client, kind, keyOf(manifest), context.signal) : found;
    if (live && live !== found && !this.#differs(kind, live, marked, hash)) return { object: live, wrote: false };
    const object = live ? await this.#update(kind, marked, live, context) : await this.#create(kind, marked, context);
    const { resourceVersion } = object.metadata;
    const kept = kind.kind === "ConfigMap" ? { object } : {};
    this.#lastApplied.set(childId(kind, object), { hash, resourceVersion, ...kept });
    return { object, wrote: true, correction: wasApplied ? this.#correctionOf(kind, marked, live, object) : undefined };
  }

  /** What another client had changed in a child, as far as the write set it back. */
  #correctionOf(
    kind: ChildKind,
    manifest: Manifest,
    live: Stored<KubeObject> | undefined,
    written: Stored<KubeObject>,
  ): Correction | undefined {
    const child = { kind: kind.kind, name: keyOf(manifest).name, correctedAtMs: this.#clock.now() };
    if (live === undefined) return { ...child, ...DELETED };
    const left = new Set(driftFields(written, manifest).fields.map(({ path }) => path));
    const { fields: found, moreFields } = driftFields(live, manifest);
    const fields = found.filter(({ path }) => !left.has(path));
    return fields.length === 0
      ? undefined
      : { ...child, fields, moreFields, edit: findEdit(live, fields, OWN_MANAGERS) };
  }

  /**
   * Reads the cache first. The cache may lag behind for a child that this process applied, so that one is read from the
   * server.
   */
  async #find(kind: ChildKind, manifest: Manifest, signal: AbortSignal): Promise<Stored<KubeObject> | undefined> {
    const cached = this.#cache.get(kind, keyOf(manifest));
    if (cached || !this.#lastApplied.has(childId(kind, manifest))) return cached;
    return readFromServer(this.#client, kind, keyOf(manifest), signal);
  }

  /**
   * Creates the child in one call that cannot modify an existing object. On a conflict the object is read and updated.
   */
  async #create(kind: ChildKind, manifest: Manifest, context: ApplyContext): Promise<Stored<KubeObject>> {
    const { signal } = context;
    const fresh = { ...manifest, metadata: { ...manifest.metadata, resourceVersion: CREATE_ONLY_VERSION } };
    try {
      return await this.#client.resource(kind).apply(fresh, { fieldManager: FIELD_MANAGER, signal });
    } catch (thrown) {
      if (!isFault(thrown, "conflict") && conflictsIn(thrown).length === 0) throw thrown;
    }
    const live = await readFromServer(this.#client, kind, keyOf(manifest), signal);
    return live ? this.#update(kind, manifest, live, context) : this.#write(kind, manifest, signal);
  }

  async #update(
    kind: ChildKind,
    manifest: Manifest,
    live: Stored<KubeObject>,
    { signal, known }: ApplyContext,
  ): Promise<Stored<KubeObject>> {
    const wasOurs = known.has(live.metadata.uid) && controllerOf(live) === undefined;
    if (!wasOurs && !isOwnedBy(live, ownerUid(manifest)))
      throwIfAny(adoptionFault(await readFromServer(this.#client, kind, keyOf(manifest), signal), manifest));
    await this.#handOverReplicas(kind, manifest, live, signal);
    return this.#write(kind, manifest, signal);
  }

  /** Keeps the replica count while the ownership of the field moves to an autoscaler. */
  async #handOverReplicas(
    kind: ChildKind,
    manifest: Manifest,
    live: Stored<KubeObject>,
    signal: AbortSignal,
  ): Promise<void> {
    // The cache holds no managed fields, so a candidate is read from the server.
    if (replicasHandover(manifest, live, FIELD_MANAGER) === undefined) return;
    const current = await this.#client.resource(kind).get(keyOf(live), { signal });
    const handOver = replicasHandover(manifest, current, FIELD_MANAGER);
    if (handOver)
      await this.#client.resource(kind).apply(handOver, { fieldManager: SCALE_MANAGER, force: true, signal });
  }

  #differs(kind: ChildKind, live: Stored<KubeObject>, marked: Manifest, hash: string): boolean {
    if (annotationOf(live, HASH_ANNOTATION) !== hash) return true;
    const last = this.#lastApplied.get(childId(kind, live));
    if (last?.hash === hash && last.resourceVersion === live.metadata.resourceVersion) return false;
    return !contains(live, marked);
  }

  /**
   * Applies the manifest. Fields that another manager set with an update are drift and are overwritten, except for
   * replicas that an autoscaler of someone else sets. Fields that another manager applies are a conflict for the user to
   * resolve.
   */
  async #write(kind: ChildKind, manifest: Manifest, signal: AbortSignal): Promise<Stored<KubeObject>> {
    const api = this.#client.resource(kind);
    try {
      return await api.apply(manifest, { fieldManager: FIELD_MANAGER, signal });
    } catch (thrown) {
      const conflicts = conflictsIn(thrown);
      if (!isDrift(conflicts)) throw thrown;
      const isScaled =
        conflicts.some(({ field }) => field === REPLICAS_FIELD) && (await this.#isScaledByOthers(manifest, signal));
      const ours = isScaled ? withoutReplicas(manifest) : manifest;
      return api.apply(ours, { fieldManager: FIELD_MANAGER, force: true, signal });
    }
  }

  /** Asks the server with a dry run whether it would accept a new object. */
  async #previewCreate(kind: ChildKind, manifest: Manifest, signal: AbortSignal): Promise<ChildPreview> {
    const { metadata } = manifest;
    const ownerReferences = metadata.ownerReferences?.map((owner) => ({ ...owner, uid: owner.uid || UNKNOWN_UID }));
    const fresh = {
      ...metadata,
      resourceVersion: CREATE_ONLY_VERSION,
      ...(ownerReferences ? { ownerReferences } : {}),
    };
    const options = { fieldManager: FIELD_MANAGER, dryRun: true, signal };
    try {
      await this.#client.resource(kind).apply({ ...manifest, metadata: fresh }, options);
      return { change: "create" };
    } catch (thrown) {
      // The namespace may not exist yet, and another client may have created the object meanwhile.
      if (isFault(thrown, "not-found") || isFault(thrown, "conflict")) return { change: "create" };
      return rejectedPreview(thrown, { change: "create" });
    }
  }

  /** Asks the server with a dry run what an update results in: it sets defaults, and rejects immutable fields. */
  async #previewUpdate(
    kind: ChildKind,
    manifest: Manifest,
    live: Stored<KubeObject>,
    signal: AbortSignal,
    force = false,
  ): Promise<ChildPreview> {
    const options = { fieldManager: FIELD_MANAGER, dryRun: true, force, signal };
    try {
      return { change: "update", live, updated: await this.#client.resource(kind).apply(manifest, options) };
    } catch (thrown) {
      if (!force && isDrift(conflictsIn(thrown))) return this.#previewUpdate(kind, manifest, live, signal, true);
      return rejectedPreview(thrown, { change: "update", live });
    }
  }

  async #isScaledByOthers(manifest: Manifest, signal: AbortSignal): Promise<boolean> {
    const { namespace, name } = keyOf(manifest);
    return (await this.#findForeignScaler(namespace, { kind: manifest.kind, name }, signal)) !== undefined;
  }

  #kindOf(manifest: Manifest): ChildKind | Problem {
    const gvk = gvkOf(manifest);
    if (!gvk.ok) return problem("ApplyInvalid", violationMessage(gvk.error), refOf(manifest));
    const kind = this.#cache.kinds.find((known) => known.group === gvk.value.group && known.kind === gvk.value.kind);
    return (
      kind ??
      problem(
        "KindMissing",
        `the cluster does not serve ${manifest.apiVersion} ${manifest.kind}, or the kind is not allowed for children`,
        refOf(manifest),
      )
    );
  }
}

/** The preview of a write that the server rejected in a dry run: `allowed` if it only cannot be tried out. */
function rejectedPreview(thrown: unknown, allowed: ChildPreview): ChildPreview {
  const fault = Fault.from(thrown);
  if (fault.retryable || ["internal", "cancelled"].includes(fault.kind)) throw fault;
  // An admission webhook with side effects allows no dry run.
  return /dry.?run/i.test(fault.message) ? allowed : { change: "blocked", problem: fault.message };
}

function violationMessage({ path, message }: Violation): string {
  return `${path} ${message}`;
}

function conflictsIn(thrown: unknown): ReturnType<typeof fieldConflictsOf> {
  return thrown instanceof Fault ? fieldConflictsOf(thrown) : [];
}

/** Whether all conflicts are with updates by others. The server names an apiVersion only for managers that used update. */
function isDrift(conflicts: ReturnType<typeof fieldConflictsOf>): boolean {
  return conflicts.length > 0 && conflicts.every(({ apiVersion }) => apiVersion !== undefined);
}

/** The uid of the owning class. */
function ownerUid(manifest: Manifest): string {
  return manifest.metadata.ownerReferences?.[0]?.uid ?? "";
}

/**
 * Why an object may not be updated: it is neither ours nor an orphan of this class. An object of the same name that was
 * never ours is not modified.
 */
function adoptionFault(live: Stored<KubeObject> | undefined, manifest: Manifest): Fault | undefined {
  const label = manifest.metadata.labels?.[OWNER_LABEL] ?? "";
  if (!live || isOwnedBy(live, ownerUid(manifest)) || isOrphaned(live, label)) return undefined;
  if (isOwnedByKnative(live)) {
    const message = `${manifest.kind} ${manifest.metadata.name} still belongs to Knative; it is deleted with the Knative Service`;
    return unavailable("the name", message, { retryAfterMs: 1_000 });
  }
  return new Fault(
    { kind: "already-exists", resource: manifest.kind, name: manifest.metadata.name ?? "" },
    `${manifest.kind} ${manifest.metadata.name} belongs to another owner; delete it or rename the class`,
  );
}

function throwIfAny(fault: Fault | undefined): void {
  if (fault !== undefined) throw fault;
}

function withAnnotation(manifest: Manifest, name: string, value: string): Manifest {
  const { metadata } = manifest;
  return { ...manifest, metadata: { ...metadata, annotations: { ...metadata.annotations, [name]: value } } };
}

/** Whether the object does not exist. */
export function isNotFound(thrown: unknown): boolean {
  return isFault(thrown, "not-found");
}

/**
 * Whether a live object has every rendered field with the same value. It may have more: defaults and fields of other
 * managers. Lists are compared by position, since the server keeps the order that one manager applied.
 */
export function contains(live: unknown, rendered: unknown): boolean {
  if (Array.isArray(rendered)) {
    return (
      Array.isArray(live) &&
      live.length === rendered.length &&
      rendered.every((item, index) => contains(live[index], item))
    );
  }
  if (typeof rendered === "object" && rendered !== null) {
    if (typeof live !== "object" || live === null || Array.isArray(live)) return false;
    return Object.entries(rendered).every(([member, value]) =>
      contains((live as Record<string, unknown>)[member], value),
    );
  }
  return Object.is(live, rendered);
}
