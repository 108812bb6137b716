import { EVENT_TOPICS } from "@oaas/contracts/rest";
import { timestamp, type Clock } from "@oaas/foundation";
import type { EventFeed, EventTopic, FeedEvent } from "../use-cases.ts";
import { formatEventId, parseEventId } from "./event-id.ts";
import type { EventLog } from "./event-log.ts";

type Query = Parameters<EventFeed["follow"]>[0];

/** Topics that are stored, so that another process can go on where one stopped. */
const STORED: ReadonlySet<EventTopic> = new Set(["deployment", "operation", "package"]);

/**
 * Hands out the log to any number of followers, each at its own pace.
 *
 * *Guarantees*: nothing is skipped in silence: who cannot be given what it missed gets a `resync` for each topic it follows, and then all that happens
 * from that moment on; who does not read costs no memory.
 */
export class LogEventFeed implements EventFeed {
  readonly #log: EventLog;
  readonly #clock: Clock;

  constructor(log: EventLog, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  async *follow(query: Query): AsyncGenerator<FeedEvent> {
    const { signal } = query;
    let at = query.lastEventId === undefined ? this.#log.head : this.#resume(query.lastEventId, query.topic);
    while (!signal.aborted) {
      const missed = at === undefined ? undefined : this.#log.since(at);
      if (missed === undefined) {
        at = this.#log.head;
        yield* this.#resync(query, at);
        continue;
      }
      for (const logged of missed) {
        if (signal.aborted) return;
        at = logged.sequence;
        if (logged.matches(query.topic, query.key)) yield logged.event;
      }
      if (missed.length === 0) await this.#log.next(signal);
    }
  }

  /** The sequence to go on behind, or undefined when history does not reach. */
  #resume(lastEventId: string, topic: EventTopic | undefined): number | undefined {
    const position = parseEventId(lastEventId);
    if (position === undefined) return undefined;
    if (position.epoch === this.#log.epoch) return position.sequence;
    return topic !== undefined && STORED.has(topic) ? this.#log.sequenceOf(position.revision) : undefined;
  }

  *#resync({ topic, key }: Query, sequence: number): Generator<FeedEvent> {
    const at = timestamp(this.#clock.now());
    // Whoever reads anew after this has everything up to here.
    const id = formatEventId({ revision: this.#log.settled, epoch: this.#log.epoch, sequence });
    for (const each of topic === undefined ? EVENT_TOPICS : [topic]) {
      yield { id, topic: each, type: "resync", key: key ?? "", at };
    }
  }
}
