import { Fault, isFault, type Ambient } from "@oaas/foundation";
import { safeName } from "@oaas/kube-core";
import { NOOP_LOGGER, NOOP_METER, type Counter, type Logger, type Meter } from "@oaas/observability";
import type { KubeClient } from "../client/kube-client.ts";
import type { ResourceClient } from "../client/resource-client.ts";
import { TokenBucket } from "../queue/rate-limiter.ts";
import { EVENTS, truncateNote, microTime, type EventInput, type KubeEvent } from "./event.ts";

/** Identity and limits of a recorder. */
export interface RecorderOptions {
  readonly client: KubeClient;
  readonly ambient: Ambient;
  /** The reporting controller, such as example.com/my-controller. */
  readonly controller: string;
  /** The reporting instance. */
  readonly instance: string;
  /** Equal events within this time form one series. Default 6 min. */
  readonly seriesMs?: number;
  /** Event writes per object: a burst, then a slow rate. Default 25, then one per 5 min. */
  readonly perObject?: { readonly burst: number; readonly perSecond: number };
  /** Queue length; further events are dropped and counted. Default 1,000. */
  readonly limit?: number;
  readonly logger?: Logger;
  readonly meter?: Meter;
}

/** An event and its repetitions. */
interface Series {
  readonly happening: EventInput;
  /** The stored Event, once it exists. */
  name: string | undefined;
  count: number;
  /** Wall-clock time, for the Event. */
  lastAt: number;
  /** Monotonic time, for ages. */
  lastSeen: number;
  waiting: boolean;
}

/** Maximum number of remembered objects and series; the least recently used are forgotten first. */
const REMEMBERED = 4_096;

/** Deadline of a write: a slow one must not delay the others. */
const WRITE_WITHIN_MS = 10_000;

/** The only namespace in which the server accepts Events about cluster-scoped objects. */
const CLUSTER_EVENTS = "default";

/**
 * Writes Kubernetes Events in the background.
 *
 * *Guarantees*: `record` returns at once and never throws; an event that repeats within `seriesMs` becomes one Event
 * with an exact count; one object cannot flood the cluster; memory and the write queue are bounded; events that cannot
 * be written are logged and dropped. `flush` waits until the queue is empty.
 */
export class EventRecorder {
  readonly #options: RecorderOptions;
  readonly #events: ResourceClient<KubeEvent>;
  readonly #logger: Logger;
  readonly #counter: Counter<"outcome">;
  readonly #series = new Map<string, Series>();
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #line: Series[] = [];
  #writing: Promise<void> | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#events = options.client.resource(EVENTS);
    this.#logger = options.logger ?? NOOP_LOGGER;
    this.#counter = (options.meter ?? NOOP_METER).counter({
      name: "kube_events_recorded_total",
      help: "Events by outcome: created, counted into a series, dropped.",
      labels: ["outcome"],
      startAtZero: [{ outcome: "created" }, { outcome: "counted" }, { outcome: "dropped" }],
    });
  }

  /** Records an event; it is written later. */
  record(happening: EventInput): void {
    const series = this.#note(happening);
    if (series.count > 1) this.#counter.add(1, { outcome: "counted" });
    if (series.waiting) return;
    if (this.#line.length >= (this.#options.limit ?? 1_000) || !this.#bucketOf(happening).tryTake()) {
      if (series.count === 1) this.#counter.add(1, { outcome: "dropped" });
      return;
    }
    series.waiting = true;
    this.#line.push(series);
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when all queued events have been written or dropped. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  #note(happening: EventInput): Series {
    const { clock } = this.#options.ambient;
    const id = idOf(happening);
    const present = this.#series.get(id);
    const isFresh = present !== undefined && clock.monotonic() - present.lastSeen < (this.#options.seriesMs ?? 360_000);
    const series = isFresh ? present : { happening, name: undefined, count: 0, lastAt: 0, lastSeen: 0, waiting: false };
    series.count += 1;
    series.lastAt = clock.now();
    series.lastSeen = clock.monotonic();
    remember(this.#series, id, series);
    return series;
  }

  #bucketOf({ regarding }: EventInput): TokenBucket {
    const object = regarding.uid ?? `${regarding.kind}/${regarding.namespace ?? ""}/${regarding.name}`;
    const options = this.#options.perObject ?? { burst: 25, perSecond: 1 / 300 };
    const bucket = this.#buckets.get(object) ?? new TokenBucket(this.#options.ambient.clock, options);
    remember(this.#buckets, object, bucket);
    return bucket;
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#line.shift(); next; next = this.#line.shift()) {
      next.waiting = false;
      try {
        if (!(await this.#update(next))) await this.#create(next);
      } catch (thrown) {
        this.#counter.add(1, { outcome: "dropped" });
        this.#logger.warn("record event failed", {
          fault: Fault.from(thrown),
          reason: next.happening.reason,
        });
      }
    }
    // In the same turn as the last check of the queue, so that no event is left behind.
    this.#writing = undefined;
  }

  async #create(series: Series): Promise<void> {
    const { controller, instance, ambient } = this.#options;
    const { regarding, related, reason, action, type, note, annotations } = series.happening;
    const unique = `${series.lastAt.toString(16)}${Math.floor(ambient.random.next() * 0xffff_ffff).toString(16)}`;
    const name = series.happening.name ?? safeName([regarding.name, unique]);
    await this.#events.create(
      {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: { name, namespace: namespaceOf(series), ...(annotations ? { annotations: { ...annotations } } : {}) },
        eventTime: microTime(series.lastAt),
        reportingController: controller,
        reportingInstance: instance.slice(0, 128),
        action,
        reason,
        note: truncateNote(note),
        type,
        regarding,
        ...(related ? { related } : {}),
        ...(series.count > 1 ? seriesField(series) : {}),
      },
      { deadlineMs: WRITE_WITHIN_MS },
    );
    series.name = name;
    this.#counter.add(1, { outcome: "created" });
  }

  /** Updates the count of the series' Event; false when it does not exist (any more). */
  async #update(series: Series): Promise<boolean> {
    if (series.name === undefined) return false;
    const key = { namespace: namespaceOf(series), name: series.name };
    try {
      await this.#events.patch(key, "merge", seriesField(series), { deadlineMs: WRITE_WITHIN_MS });
      return true;
    } catch (thrown) {
      if (isFault(thrown, "not-found")) return false;
      throw thrown;
    }
  }
}

function seriesField({ count, lastAt }: Series): Pick<KubeEvent, "series"> {
  return { series: { count, lastObservedTime: microTime(lastAt) } };
}

function namespaceOf({ happening }: Series): string {
  return happening.regarding.namespace || CLUSTER_EVENTS;
}

function idOf({ regarding, related, reason, action, type, note, annotations }: EventInput): string {
  const object = regarding.uid ?? [regarding.kind, regarding.namespace, regarding.name];
  return JSON.stringify([object, related?.uid ?? related?.name, reason, action, type, note, annotations]);
}

/** Moves an entry to the recent end and evicts the oldest beyond the limit. */
function remember<V>(memory: Map<string, V>, key: string, value: V): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= REMEMBERED) return;
  const oldest = memory.keys().next();
  if (!oldest.done) memory.delete(oldest.value);
}
