import { Notifier } from "@oaas/foundation";
import type { EventTopic, FeedEvent } from "../use-cases.ts";
import { formatEventId, type EventPosition } from "./event-id.ts";

/** An event as its source tells it. */
export type NewEvent = Omit<FeedEvent, "id"> & {
  /** Of the store, for what is stored; absent for what was only observed. */
  readonly revision?: number;
  /** Roughly what it takes to keep the object; 2 kB when not said. */
  readonly bytes?: number;
  /** In place of `object`: makes it of what was kept when the first follower is told. Most events are told to nobody, and every write makes one. */
  readonly objectOf?: (kept: unknown) => unknown;
  readonly kept?: unknown;
};

/** An event in the log: one object, because thousands wait in it for somebody who asks. */
export class LoggedEvent {
  readonly sequence: number;
  readonly revision: number | undefined;
  readonly bytes: number;
  readonly #topic: EventTopic;
  readonly #type: FeedEvent["type"];
  readonly #key: string;
  readonly #at: string;
  readonly #epoch: string;
  readonly completeRevision: number;
  /** The object, or what it is made of as long as nobody asked. */
  #object: unknown;
  #objectOf: ((kept: unknown) => unknown) | undefined;
  #told: FeedEvent | undefined;

  constructor(news: NewEvent, { revision, epoch, sequence }: EventPosition) {
    this.sequence = sequence;
    this.revision = news.revision;
    this.bytes = news.bytes ?? DEFAULT_BYTES;
    this.#topic = news.topic;
    this.#type = news.type;
    this.#key = news.key;
    this.#at = news.at;
    this.#epoch = epoch;
    this.completeRevision = revision;
    this.#objectOf = news.objectOf;
    this.#object = news.objectOf === undefined ? news.object : news.kept;
  }

  /** Whether it is for those who follow this topic and this key; one that tells to read anew concerns everybody on its topic. */
  matches(topic: EventTopic | undefined, key: string | undefined): boolean {
    if (topic !== undefined && this.#topic !== topic) return false;
    return key === undefined || this.#key === key || this.#type === "resync";
  }

  /** The event as every follower is told it, put together once. */
  get event(): FeedEvent {
    this.#told ??= this.#tell();
    return this.#told;
  }

  #tell(): FeedEvent {
    const id = formatEventId({ revision: this.completeRevision, epoch: this.#epoch, sequence: this.sequence });
    const object = this.#objectOf === undefined ? this.#object : this.#objectOf(this.#object);
    // What the object was made of is not kept beside it.
    this.#object = this.#objectOf = undefined;
    return {
      id,
      topic: this.#topic,
      type: this.#type,
      key: this.#key,
      at: this.#at,
      ...(object === undefined ? {} : { object }),
    };
  }
}

/** How much is kept. */
export interface LogLimits {
  readonly events: number;
  readonly bytes: number;
}

const DEFAULT_BYTES = 2_048;
const DEFAULT_LIMITS: LogLimits = { events: 10_000, bytes: 24 * 1024 * 1024 };
/** A log is let grow by a quarter and then cut, so that a full one is not moved for each event. */
const STRIDE = 1.25;

/** How much a reader is handed at once. */
const CHUNK = 500;

/**
 * The last events of this process, bounded.
 *
 * *Guarantees*: events are told in order; a reader whom the log no longer reaches is told so rather than given a gap.
 */
export class EventLog {
  readonly epoch: string;
  readonly #limits: LogLimits;
  #bytes = 0;
  #events: LoggedEvent[] = [];
  /** Sequence of the last event that is not kept any more. */
  #base = 0;
  /** Every stored change after this revision is in the log, as far as it happened. */
  #storedSince = Number.POSITIVE_INFINITY;
  #settled = 0;
  readonly #notifier = new Notifier();

  /** The epoch is any text that no other process has, such as a UUID; ids carry its letters and digits. */
  constructor(epoch: string, limits: Partial<LogLimits> = {}) {
    this.epoch = epoch
      .toLowerCase()
      .replaceAll(/[^0-9a-z]/g, "")
      .slice(0, 32);
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  /** Sequence of the newest event. */
  get head(): number {
    return this.#base + this.#events.length;
  }

  /** Every stored change up to this revision was told. */
  get settled(): number {
    return this.#settled;
  }

  append(news: NewEvent): void {
    const logged = new LoggedEvent(news, { revision: this.#settled, epoch: this.epoch, sequence: this.head + 1 });
    this.#events.push(logged);
    this.#bytes += logged.bytes;
    this.#trim();
    this.#notifier.notify();
  }

  /** Stored changes are told from behind this revision on. */
  startFrom(revision: number): void {
    this.#storedSince = revision;
    this.#settled = Math.max(this.#settled, revision);
  }

  /** Every stored change up to this revision has been told. */
  markComplete(revision: number): void {
    this.#settled = Math.max(this.#settled, revision);
  }

  /** Something was missed: every reader has to begin anew. */
  reset(revision: number): void {
    this.#base = this.head + 1;
    this.#events = [];
    this.#bytes = 0;
    this.startFrom(revision);
    this.#notifier.notify();
  }

  /** What came after a sequence, a part at a time; undefined when the log does not reach that far back. */
  since(sequence: number): readonly LoggedEvent[] | undefined {
    if (sequence < this.#base || sequence > this.head) return undefined;
    return this.#events.slice(sequence - this.#base, sequence - this.#base + CHUNK);
  }

  /** The sequence behind which all stored changes after a revision are; undefined when the log does not reach that far back. */
  sequenceOf(revision: number): number | undefined {
    if (revision < this.#storedSince) return undefined;
    const first = this.#events.find((logged) => logged.revision !== undefined && logged.revision > revision);
    return first === undefined ? this.head : first.sequence - 1;
  }

  /** Waits for the next event; resolves as well when the signal aborts. */
  next(signal: AbortSignal): Promise<void> {
    return this.#notifier.wait(signal);
  }

  #trim(): void {
    const { events, bytes } = this.#limits;
    if (this.#events.length <= events * STRIDE && this.#bytes <= bytes * STRIDE) return;
    let count = 0;
    for (const { revision, bytes: size } of this.#events) {
      if (this.#events.length - count <= events && this.#bytes <= bytes) break;
      if (revision !== undefined) this.#storedSince = Math.max(this.#storedSince, revision);
      this.#bytes -= size;
      count += 1;
    }
    this.#events = this.#events.slice(count);
    this.#base += count;
  }
}
