import { Fault, sleep, timestamp, type Ambient } from "@oaas/foundation";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
import type { Collection, CollectionChange, Entry, KeyValueStore, Stored } from "@oaas/storage";
import type { EventTopic } from "../use-cases.ts";
import type { EventLog } from "./event-log.ts";

/** A collection whose changes are events. */
export interface StoredTopic {
  readonly topic: EventTopic;
  /** Tells events in the order of their revisions, until the signal aborts, each time with the revision up to which the collection has been read. */
  follow(
    fromRevision: number,
    signal: AbortSignal,
    tell: (revision: number, events: readonly StoredEvent[]) => void,
  ): Promise<void>;
}

export interface StoredEvent {
  readonly type: "added" | "changed" | "removed" | "progress";
  readonly key: string;
  readonly revision: number;
  /** Makes the thing, as its own route answers it, of what is kept. */
  readonly objectOf?: (kept: unknown) => unknown;
  readonly kept?: unknown;
  /** Roughly what it takes to keep the object. */
  readonly bytes: number;
}

export type FollowedCollection<T> = Pick<Collection<T>, "watch" | "recordIn">;

/** Makes a topic of a collection; `objectOf` answers the thing as its own route does, `keyOf` the key it is followed by, or undefined for none. */
export function storedTopic<T>(options: {
  readonly topic: EventTopic;
  readonly collection: FollowedCollection<T>;
  readonly objectOf: (stored: Stored<T>) => unknown;
  readonly keyOf?: (id: string) => string | undefined;
  /** In place of added and changed. */
  readonly type?: "progress";
}): StoredTopic {
  const { topic, collection, keyOf = (id) => id } = options;
  const objectOf = (kept: unknown): unknown => options.objectOf(collection.recordIn(kept as Entry));
  const eventOf = (change: CollectionChange<T>): StoredEvent[] => {
    if (change.type === "unreadable") return [];
    const key = keyOf(change.id);
    if (key === undefined) return [];
    const { revision } = change;
    if (change.type === "delete") return [{ type: "removed", key, revision, bytes: 256 }];
    const type = options.type ?? (change.stored.version === 1 ? "added" : "changed");
    // Of thousands of events hardly one is asked for: what waits for that is the text, and not the many objects read from it.
    const { entry } = change.stored.source;
    return [{ type, key, revision, objectOf, kept: entry, bytes: entry.value.length }];
  };
  return {
    topic,
    async follow(fromRevision, signal, tell) {
      for await (const { revision, changes } of collection.watch(fromRevision, { signal }))
        tell(revision, changes.flatMap(eventOf));
    },
  };
}

export interface StoredEventsOptions {
  readonly store: Pick<KeyValueStore, "revision">;
  readonly topics: readonly StoredTopic[];
  readonly log: EventLog;
  readonly ambient: Ambient;
  readonly logger?: Logger;
  /** So many revisions before the present one are read at the start, so that followers can go on over a restart. Default 2,000. */
  readonly backlog?: number;
}

const RETRY_MS = 500;

/** Writes every stored change into the log, whoever made it. */
export class StoredEvents {
  readonly #options: StoredEventsOptions;
  readonly #stop = new AbortController();
  readonly #read = new Map<StoredTopic, number>();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: StoredEventsOptions) {
    this.#options = options;
  }

  /** Begins to follow; what happens from now on is in the log. */
  async start(): Promise<void> {
    const { store, topics, log, backlog = 2_000 } = this.#options;
    const present = await store.revision();
    // The first revision is that of the empty store.
    const before = Math.max(1, present - backlog);
    log.startFrom(before);
    for (const topic of topics) this.#read.set(topic, before);
    this.#running = Promise.all(topics.map((topic) => this.#follow(topic)));
  }

  /** Repeatable. */
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
            this.#settle(topic, event.revision - 1);
            log.append({ ...event, topic: topic.topic, at });
          }
          this.#settle(topic, revision);
        });
      } catch (thrown) {
        if (signal.aborted) return;
        const fault = Fault.from(thrown);
        if (fault.code === "OAAS_STORE_COMPACTED" && (await this.#skip(topic))) continue;
        logger.warn("events of the store are not followed any more", { topic: topic.topic, fault });
        await sleep(ambient.timers, RETRY_MS, signal).catch(() => undefined);
      }
    }
  }

  /** The topic has been read up to a revision. */
  #settle(topic: StoredTopic, revision: number): void {
    if (revision <= (this.#read.get(topic) ?? 0)) return;
    this.#read.set(topic, revision);
    // Every event passes here, so nothing is made to find the least.
    let least = revision;
    for (const each of this.#options.topics) least = Math.min(least, this.#read.get(each) ?? 0);
    this.#options.log.markComplete(least);
  }

  /** History is gone: everybody has to read anew. False when the store cannot be asked for its revision. */
  async #skip(topic: StoredTopic): Promise<boolean> {
    const { store, log } = this.#options;
    const present = await store.revision().catch(() => undefined);
    if (present === undefined) return false;
    this.#read.set(topic, present);
    log.reset(present);
    return true;
  }
}
