import { Notifier } from "@oaas/foundation";
import type { EventTopic, FeedEvent } from "../use-cases.ts";
import { formatEventId, type EventPosition } from "./event-id.ts";

/** An event from its source, without an id. */
export type NewEvent = Omit<FeedEvent, "id"> & {
  /** The revision of the store; absent for observed events. */
  readonly revision?: number;
  /** Estimated memory of the object. Default 2 kB. */
  readonly bytes?: number;
  /** Creates `object` from `source` on first use, because every write appends an event and most have no follower. */
  readonly createObject?: (source: unknown) => unknown;
  readonly source?: unknown;
};

/** An event in the log. A flat object, because the log keeps thousands of them. */
export class LoggedEvent {
  readonly sequence: number;
  readonly revision: number | undefined;
  readonly bytes: number;
  readonly #topic: EventTopic;
  readonly #type: FeedEvent["type"];
  readonly #key: string;
  readonly #at: string;
  readonly #epoch: string;
  readonly #completeRevision: number;
  /** The object, or its source until the first use. */
  #object: unknown;
  #createObject: ((source: unknown) => unknown) | undefined;
  #event: FeedEvent | undefined;

  constructor(event: NewEvent, { revision, epoch, sequence }: EventPosition) {
    this.sequence = sequence;
    this.revision = event.revision;
    this.bytes = event.bytes ?? DEFAULT_BYTES;
    this.#topic = event.topic;
    this.#type = event.type;
    this.#key = event.key;
    this.#at = event.at;
    this.#epoch = epoch;
    this.#completeRevision = revision;
    this.#createObject = event.createObject;
    this.#object = event.createObject === undefined ? event.object : event.source;
  }

  /** Whether followers of this topic and key get the event; a resync is for all followers of its topic. */
  matches(topic: EventTopic | undefined, key: string | undefined): boolean {
    if (topic !== undefined && this.#topic !== topic) return false;
    return key === undefined || this.#key === key || this.#type === "resync";
  }

  /** The event for followers, created once. */
  get event(): FeedEvent {
    this.#event ??= this.#create();
    return this.#event;
  }

  #create(): FeedEvent {
    const id = formatEventId({ revision: this.#completeRevision, epoch: this.#epoch, sequence: this.sequence });
    const object = this.#createObject === undefined ? this.#object : this.#createObject(this.#object);
    this.#object = this.#createObject = undefined;
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

/** Limits of the log. */
export interface LogLimits {
  readonly events: number;
  readonly bytes: number;
}

const DEFAULT_BYTES = 2_048;
const DEFAULT_LIMITS: LogLimits = { events: 10_000, bytes: 24 * 1024 * 1024 };
/** The log grows by a quarter before it is trimmed, so that not every append copies a full log. */
const TRIM_FACTOR = 1.25;

/** Events per read. */
const READ_SIZE = 500;

/**
 * The last events of this process, bounded.
 *
 * *Guarantees*: events are in order; a reader that is too far behind is notified instead of getting a gap.
 */
export class EventLog {
  readonly epoch: string;
  readonly #limits: LogLimits;
  #bytes = 0;
  #events: LoggedEvent[] = [];
  /** Sequence of the last evicted event. */
  #base = 0;
  /** The log contains every stored change after this revision. */
  #storedSince = Number.POSITIVE_INFINITY;
  #completeRevision = 0;
  readonly #notifier = new Notifier();

  /** The epoch is unique per process, such as a UUID; ids contain its letters and digits. */
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

  /** The log has got every stored change up to this revision. */
  get completeRevision(): number {
    return this.#completeRevision;
  }

  append(event: NewEvent): void {
    const logged = new LoggedEvent(event, {
      revision: this.#completeRevision,
      epoch: this.epoch,
      sequence: this.head + 1,
    });
    this.#events.push(logged);
    this.#bytes += logged.bytes;
    this.#trim();
    this.#notifier.notify();
  }

  /** Stored changes after this revision will be appended. */
  startFrom(revision: number): void {
    this.#storedSince = revision;
    this.#completeRevision = Math.max(this.#completeRevision, revision);
  }

  /** Every stored change up to this revision has been appended. */
  markComplete(revision: number): void {
    this.#completeRevision = Math.max(this.#completeRevision, revision);
  }

  /** Drops all events after a gap; every reader has to resync. */
  reset(revision: number): void {
    this.#base = this.head + 1;
    this.#events = [];
    this.#bytes = 0;
    this.startFrom(revision);
    this.#notifier.notify();
  }

  /** The next events after a sequence; undefined if the log does not reach that far back. */
  since(sequence: number): readonly LoggedEvent[] | undefined {
    if (sequence < this.#base || sequence > this.head) return undefined;
    return this.#events.slice(sequence - this.#base, sequence - this.#base + READ_SIZE);
  }

  /** The sequence before all stored changes after a revision; undefined if the log does not reach that far back. */
  sequenceOf(revision: number): number | undefined {
    if (revision < this.#storedSince) return undefined;
    const first = this.#events.find((logged) => logged.revision !== undefined && logged.revision > revision);
    return first === undefined ? this.head : first.sequence - 1;
  }

  /** Waits for the next event; also resolves when the signal aborts. */
  next(signal: AbortSignal): Promise<void> {
    return this.#notifier.wait(signal);
  }

  #trim(): void {
    const { events, bytes } = this.#limits;
    if (this.#events.length <= events * TRIM_FACTOR && this.#bytes <= bytes * TRIM_FACTOR) return;
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
