import { Fault, sleep, timestamp, type Ambient } from "@oaas/foundation";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
import type { Collection, CollectionChange, Entry, KeyValueStore, Stored } from "@oaas/storage";
import { BACKOFF } from "../backoff-policies.ts";
import type { EventTopic } from "../use-cases.ts";
import type { EventLog } from "./event-log.ts";

/** A collection whose changes are events. */
export interface StoredTopic {
  readonly topic: EventTopic;
  /** Passes events to `onEvents` in revision order until the signal aborts, with the revision that has been read completely. */
  follow(
    fromRevision: number,
    signal: AbortSignal,
    onEvents: (revision: number, events: readonly StoredEvent[]) => void,
  ): Promise<void>;
}

export interface StoredEvent {
  readonly type: "added" | "changed" | "removed" | "progress" | "replan" | "restart-turn";
  readonly key: string;
  readonly revision: number;
  /** Creates the object in the form of its REST route from `source`. */
  readonly createObject?: (source: unknown) => unknown;
  readonly source?: unknown;
  /** Estimated memory of the object. */
  readonly bytes: number;
}

export type FollowedCollection<T> = Pick<Collection<T>, "watch" | "decodeEntry">;

/** A topic over a collection. `toObject` converts a record to its REST form; `keyOf` returns its key, or undefined to skip it. */
export function storedTopic<T>(options: {
  readonly topic: EventTopic;
  readonly collection: FollowedCollection<T>;
  readonly toObject: (stored: Stored<T>) => unknown;
  readonly keyOf?: (id: string) => string | undefined;
  /** Replaces added and changed. */
  readonly type?: "progress" | "replan" | "restart-turn";
  /** Deletions of records are not events. */
  readonly ignoresDeletions?: true;
}): StoredTopic {
  const { topic, collection, keyOf = (id) => id } = options;
  const createObject = (source: unknown): unknown => options.toObject(collection.decodeEntry(source as Entry));
  const eventsOf = (change: CollectionChange<T>): StoredEvent[] => {
    if (change.type === "unreadable") return [];
    const key = keyOf(change.id);
    if (key === undefined) return [];
    const { revision } = change;
    if (change.type === "delete" && options.ignoresDeletions) return [];
    if (change.type === "delete") return [{ type: "removed", key, revision, bytes: 256 }];
    const type = options.type ?? (change.stored.version === 1 ? "added" : "changed");
    // Few events are ever sent, so the log keeps the stored text instead of the decoded record.
    const { entry } = change.stored.source;
    return [{ type, key, revision, createObject, source: entry, bytes: entry.value.length }];
  };
  return {
    topic,
    async follow(fromRevision, signal, onEvents) {
      for await (const { revision, changes } of collection.watch(fromRevision, { signal }))
        onEvents(revision, changes.flatMap(eventsOf));
    },
  };
}

export interface StoredEventsOptions {
  readonly store: Pick<KeyValueStore, "revision">;
  readonly topics: readonly StoredTopic[];
  readonly log: EventLog;
  readonly ambient: Ambient;
  readonly logger?: Logger;
  /** Revisions before the current one to read at start, so that followers can resume after a restart. Default 2,000. */
  readonly backlog?: number;
}

/** Appends every stored change of all processes to the log. */
export class StoredEvents {
  readonly #options: StoredEventsOptions;
  readonly #stop = new AbortController();
  readonly #read = new Map<StoredTopic, number>();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: StoredEventsOptions) {
    this.#options = options;
  }

  /** Starts to follow the topics. */
  async start(): Promise<void> {
    const { store, topics, log, backlog = 2_000 } = this.#options;
    const current = await store.revision();
    // Revision 1 is the empty store.
    const before = Math.max(1, current - backlog);
    log.startFrom(before);
    for (const topic of topics) this.#read.set(topic, before);
    this.#running = Promise.all(topics.map((topic) => this.#follow(topic)));
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #follow(topic: StoredTopic): Promise<void> {
    const { ambient, log, logger = NOOP_LOGGER } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await topic.follow((this.#read.get(topic) ?? 0) + 1, signal, (revision, events) => {
          const at = timestamp(ambient.clock.now());
          for (const event of events) {
            this.#markRead(topic, event.revision - 1);
            log.append({ ...event, topic: topic.topic, at });
          }
          this.#markRead(topic, revision);
        });
      } catch (thrown) {
        if (signal.aborted) return;
        const fault = Fault.from(thrown);
        if (fault.code === "OAAS_STORE_COMPACTED" && (await this.#skip(topic))) continue;
        logger.warn("watch stored events failed", { topic: topic.topic, fault });
        await sleep(ambient.timers, BACKOFF.eventWatch.baseMs, signal).catch(() => undefined);
      }
    }
  }

  /** Records that a topic has been read up to a revision. */
  #markRead(topic: StoredTopic, revision: number): void {
    if (revision <= (this.#read.get(topic) ?? 0)) return;
    this.#read.set(topic, revision);
    // A loop without allocation, because every event passes here.
    let least = revision;
    for (const each of this.#options.topics) least = Math.min(least, this.#read.get(each) ?? 0);
    this.#options.log.markComplete(least);
  }

  /** Skips compacted history; all followers have to resync. Returns false if the store is unavailable. */
  async #skip(topic: StoredTopic): Promise<boolean> {
    const { store, log } = this.#options;
    const current = await store.revision().catch(() => undefined);
    if (current === undefined) return false;
    this.#read.set(topic, current);
    log.reset(current);
    return true;
  }
}
