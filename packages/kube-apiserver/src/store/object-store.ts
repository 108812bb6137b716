import { err, ok, type Result } from "@oaas/foundation";
import { isJsonArray, isJsonObject, type JsonObject, type Status } from "@oaas/kube-core";
import { ChangeHistory, type Change } from "./change-history.ts";
import type { Journal } from "./journal.ts";
import { SortedObjects } from "./sorted-objects.ts";
import { StoredObject } from "./stored-object.ts";

/** A writer's decision about one object, given its current state. */
export type Decision =
  | { readonly put: JsonObject }
  /** `response` is set if it differs from the stored state. */
  | { readonly remove: true; readonly response?: JsonObject }
  /** Nothing is written and no revision is used; `response` as above. */
  | { readonly keep: true; readonly response?: JsonObject };

export type Decide = (live: StoredObject | undefined) => Result<Decision, Status>;

/** The result of a write: the object for the response, and whether it was deleted. */
export interface Written {
  readonly object: JsonObject;
  readonly stored?: StoredObject;
  readonly isGone: boolean;
}

/** A commit with its kind (`deployments.apps`). */
export interface Commit {
  readonly kind: string;
  readonly change: Change;
}

export interface ObjectStoreOptions {
  /** The number of changes per kind that are kept; an older reader must list again. */
  readonly historyLimit?: number;
  /** Makes writes durable before they are visible. */
  readonly journal?: Journal;
}

interface KindState {
  objects: SortedObjects;
  readonly history: ChangeHistory;
  readonly followers: Set<() => void>;
}

interface PendingWrite {
  readonly kind: string;
  readonly key: string;
  readonly before: StoredObject | undefined;
  readonly decision: Exclude<Decision, { readonly keep: true }>;
  readonly settle: (result: Result<Written, Status>) => void;
}

const DEFAULT_HISTORY = 2048;
const BATCH_LIMIT = 100;
/** In characters: at most three bytes each, and a transaction of the port has 1.25 MiB. */
const BATCH_LENGTH = 400_000;

/**
 * Every object, by kind and key, with one revision counter.
 *
 * ```
 *   write ─▶ decide (sees the current state) ─▶ [journal: durable] ─▶ visible: objects, history, followers ─▶ response
 * ```
 *
 * Guarantees: memory is authoritative. Two writes of one key never overlap. Writes become visible in revision order,
 * and with a journal only after they are durable; concurrent writes share one transaction.
 */
export class ObjectStore {
  readonly #historyLimit: number;
  readonly #journal: Journal | undefined;
  readonly #kinds = new Map<string, KindState>();
  readonly #owned = new Map<string, Map<string, { readonly kind: string; readonly key: string }>>();
  readonly #listeners = new Set<(commit: Commit) => void>();
  readonly #busy = new Map<string, Promise<unknown>>();
  #queue: PendingWrite[] = [];
  #isFlushing = false;
  #revision = 1;
  /** History from before this process is not available. */
  #origin = 1;

  constructor({ historyLimit = DEFAULT_HISTORY, journal }: ObjectStoreOptions = {}) {
    this.#historyLimit = historyLimit;
    this.#journal = journal;
  }

  /** The newest visible revision. */
  get revision(): number {
    return this.#revision;
  }

  /** Loads the journal. Once, before anything else. */
  async load(): Promise<void> {
    const loaded = await this.#journal?.load();
    if (loaded === undefined) return;
    this.#revision = Math.max(this.#revision, loaded.revision);
    this.#origin = this.#revision;
    const byKind = Map.groupBy(loaded.objects, ({ kind }) => kind);
    for (const [kind, entries] of byKind) {
      const objects = entries
        .map(({ key, object }) => new StoredObject(key, readRevision(object), object))
        .sort((a, b) => (a.key < b.key ? -1 : 1));
      this.#state(kind).objects = SortedObjects.of(objects);
      for (const { key, object } of objects) this.#own(kind, key, undefined, object);
    }
  }

  get(kind: string, key: string): StoredObject | undefined {
    return this.#kinds.get(kind)?.objects.get(key);
  }

  /** A snapshot of the current objects of a kind. */
  objects(kind: string): SortedObjects {
    return this.#kinds.get(kind)?.objects ?? SortedObjects.none;
  }

  /** The objects of a kind at a revision; undefined when it expired. */
  asOf(kind: string, revision: number): SortedObjects | undefined {
    const { history, objects } = this.#state(kind);
    return history.undone(objects, revision);
  }

  history(kind: string): ChangeHistory {
    return this.#state(kind).history;
  }

  /** Called after each commit of a kind. */
  follow(kind: string, wake: () => void): () => void {
    const { followers } = this.#state(kind);
    followers.add(wake);
    return () => void followers.delete(wake);
  }

  /** Wakes the followers of a kind. */
  wakeAll(): void {
    for (const { followers } of this.#kinds.values()) for (const wake of followers) wake();
  }

  /** Called after each commit of any kind, in order, before the writer's response. */
  onCommit(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The objects that reference this uid as an owner. */
  dependentsOf(uid: string): readonly { readonly kind: string; readonly stored: StoredObject }[] {
    return [...(this.#owned.get(uid)?.values() ?? [])].flatMap(({ kind, key }) => {
      const stored = this.get(kind, key);
      return stored === undefined ? [] : [{ kind, stored }];
    });
  }

  /** Forgets the history of every kind: clients with an older version must list again. */
  compact(): void {
    for (const { history, followers } of this.#kinds.values()) {
      history.compact(this.#revision);
      for (const wake of followers) wake();
    }
    this.#origin = this.#revision;
  }

  /** Writes one object as decided from its current state. */
  async write(kind: string, key: string, decide: Decide): Promise<Result<Written, Status>> {
    const busyKey = `${kind} ${key}`;
    for (let other = this.#busy.get(busyKey); other !== undefined; other = this.#busy.get(busyKey)) await other;
    const before = this.get(kind, key);
    const decided = decide(before);
    if (!decided.ok) return decided;
    const decision = decided.value;
    if ("keep" in decision) return ok(createUnchangedResult(before, decision.response));
    if (this.#journal === undefined) return ok(this.#commit({ kind, key, before, decision }, this.#revision + 1));
    const done = new Promise<Result<Written, Status>>((settle) => {
      this.#queue.push({ kind, key, before, decision, settle });
    }).finally(() => this.#busy.delete(busyKey));
    this.#busy.set(busyKey, done);
    if (!this.#isFlushing) void this.#flush(this.#journal);
    return done;
  }

  async #flush(journal: Journal): Promise<void> {
    this.#isFlushing = true;
    // One turn, so that concurrent writes are batched.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#nextBatch();
      const failure = await journal
        .persist(
          batch.map(({ write: { kind, key, decision }, next }) =>
            "put" in decision ? { kind, key, stored: next } : { kind, key },
          ),
          this.#revision + batch.length,
        )
        .then(
          () => undefined,
          (error: unknown) => createWriteError(error),
        );
      for (const { write, next } of batch) {
        write.settle(failure === undefined ? ok(this.#commit(write, next.revision, next)) : err(failure));
      }
    }
    this.#isFlushing = false;
  }

  /** As many writes as fit into a transaction; at least one of any size. */
  #nextBatch(): readonly { readonly write: PendingWrite; readonly next: StoredObject }[] {
    const batch: { readonly write: PendingWrite; readonly next: StoredObject }[] = [];
    let length = 0;
    for (const write of this.#queue) {
      const next = this.#made(write, this.#revision + 1 + batch.length);
      length += "put" in write.decision ? next.tail.length : 0;
      if (batch.length > 0 && (batch.length === BATCH_LIMIT || length > BATCH_LENGTH)) break;
      batch.push({ write, next });
    }
    this.#queue = this.#queue.slice(batch.length);
    return batch;
  }

  #made({ key, before, decision }: Omit<PendingWrite, "settle">, revision: number): StoredObject {
    const object = "put" in decision ? decision.put : (before?.object ?? {});
    return new StoredObject(key, revision, setRevision(object, revision));
  }

  #commit(write: Omit<PendingWrite, "settle">, revision: number, made = this.#made(write, revision)): Written {
    const { kind, key, before, decision } = write;
    const state = this.#state(kind);
    const isDeletion = "remove" in decision;
    this.#revision = revision;
    state.objects = isDeletion ? state.objects.without(key) : state.objects.with(made);
    this.#own(kind, key, before?.object, isDeletion ? undefined : made.object);
    const change: Change = { revision, isDeletion, after: made, ...(before === undefined ? {} : { before }) };
    state.history.add(change);
    for (const wake of state.followers) wake();
    for (const listener of this.#listeners) listener({ kind, change });
    if (!isDeletion) return { object: made.object, stored: made, isGone: false };
    return { object: decision.response ?? made.object, isGone: true };
  }

  #own(kind: string, key: string, before: JsonObject | undefined, after: JsonObject | undefined): void {
    const id = `${kind} ${key}`;
    const [old, now] = [ownersOf(before), ownersOf(after)];
    for (const uid of old) {
      const owned = this.#owned.get(uid);
      if (now.includes(uid) || owned === undefined) continue;
      owned.delete(id);
      if (owned.size === 0) this.#owned.delete(uid);
    }
    for (const uid of now) {
      const owned = this.#owned.get(uid) ?? new Map<string, { readonly kind: string; readonly key: string }>();
      this.#owned.set(uid, owned.set(id, { kind, key }));
    }
  }

  #state(kind: string): KindState {
    const existing = this.#kinds.get(kind);
    if (existing !== undefined) return existing;
    const state: KindState = {
      objects: SortedObjects.none,
      history: new ChangeHistory(this.#historyLimit, this.#origin),
      followers: new Set(),
    };
    this.#kinds.set(kind, state);
    return state;
  }
}

function createUnchangedResult(before: StoredObject | undefined, response: JsonObject | undefined): Written {
  const isSame = response === undefined && before !== undefined;
  return { object: response ?? before?.object ?? {}, isGone: false, ...(isSame ? { stored: before } : {}) };
}

function setRevision(object: JsonObject, revision: number): JsonObject {
  const metadata = object["metadata"] as JsonObject | undefined;
  return { ...object, metadata: { ...metadata, resourceVersion: String(revision) } };
}

function readRevision(object: JsonObject): number {
  const metadata = object["metadata"] as JsonObject | undefined;
  return Number(metadata?.["resourceVersion"] ?? 0);
}

const NO_OWNERS: readonly string[] = [];

function ownersOf(object: JsonObject | undefined): readonly string[] {
  const metadata = object?.["metadata"];
  const references = isJsonObject(metadata) ? metadata["ownerReferences"] : undefined;
  if (!isJsonArray(references)) return NO_OWNERS;
  return references.flatMap((one) => (isJsonObject(one) && typeof one["uid"] === "string" ? [one["uid"]] : []));
}

/** A failing store is a server error and retryable. */
function createWriteError(error: unknown): Status {
  const reason = error instanceof Error ? error.message : String(error);
  return { status: "Failure", code: 500, message: `the object could not be written: ${reason}` };
}
