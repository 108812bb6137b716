import { EVENT_TOPICS } from "@oaas/contracts/rest";
import { timestamp, type Clock } from "@oaas/foundation";
import { NOOP_METER, type Meter } from "@oaas/observability";
import type { EventFeed, EventTopic, FeedEvent } from "../use-cases.ts";
import { feedMetrics, type FeedMetrics } from "./feed-metrics.ts";
import { formatEventId, parseEventId } from "./event-id.ts";
import type { EventLog } from "./event-log.ts";

type Query = Parameters<EventFeed["follow"]>[0];

/** Stored topics, which another process can resume. */
const STORED_TOPICS: ReadonlySet<EventTopic> = new Set(["deployment", "operation", "package"]);

/**
 * Streams the event log to any number of followers, each at its own pace.
 *
 * *Guarantees*: no event is skipped silently: a follower that missed events gets a `resync` for each of its topics, then all
 * later events. A slow follower uses no memory.
 */
export class LogEventFeed implements EventFeed {
  readonly #log: EventLog;
  readonly #clock: Clock;

  readonly #metrics: FeedMetrics;

  constructor(log: EventLog, clock: Clock, meter: Meter = NOOP_METER) {
    this.#log = log;
    this.#clock = clock;
    this.#metrics = feedMetrics(meter);
  }

  async *follow(query: Query): AsyncGenerator<FeedEvent> {
    const { subscribers, delivered, lagSeconds } = this.#metrics;
    const openedAtMs = this.#clock.now();
    subscribers.add(1);
    try {
      for await (const event of this.#follow(query)) {
        delivered.add(1, { topic: event.topic });
        const atMs = Date.parse(event.at);
        // Events that a client catches up on are older than its stream.
        if (atMs >= openedAtMs) lagSeconds.observe((this.#clock.now() - atMs) / 1000);
        yield event;
      }
    } finally {
      subscribers.add(-1);
    }
  }

  async *#follow(query: Query): AsyncGenerator<FeedEvent> {
    const { signal } = query;
    let position = query.lastEventId === undefined ? this.#log.head : this.#resume(query.lastEventId, query.topic);
    while (!signal.aborted) {
      const missed = position === undefined ? undefined : this.#log.since(position);
      if (missed === undefined) {
        position = this.#log.head;
        yield* this.#resync(query, position);
        continue;
      }
      for (const logged of missed) {
        if (signal.aborted) return;
        position = logged.sequence;
        if (logged.matches(query.topic, query.key)) yield logged.event;
      }
      if (missed.length === 0) await this.#log.next(signal);
    }
  }

  /** The sequence to resume after; undefined if the log does not reach that far back. */
  #resume(lastEventId: string, topic: EventTopic | undefined): number | undefined {
    const position = parseEventId(lastEventId);
    if (position === undefined) return undefined;
    if (position.epoch === this.#log.epoch) return position.sequence;
    return topic !== undefined && STORED_TOPICS.has(topic) ? this.#log.sequenceOf(position.revision) : undefined;
  }

  *#resync({ topic, key }: Query, sequence: number): Generator<FeedEvent> {
    this.#metrics.resyncs.add(1);
    const at = timestamp(this.#clock.now());
    // A client that reads again after this event has all changes up to this position.
    const id = formatEventId({ revision: this.#log.completeRevision, epoch: this.#log.epoch, sequence });
    for (const each of topic === undefined ? EVENT_TOPICS : [topic]) {
      yield { id, topic: each, type: "resync", key: key ?? "", at };
    }
  }
}
