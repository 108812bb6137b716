import { Fault, isFault, type Ambient } from "@oaas/foundation";
import { safeName } from "@oaas/kube-core";
import { NOOP_LOGGER, NOOP_METER, type Counter, type Logger, type Meter } from "@oaas/observability";
import type { KubeClient } from "../client/kube-client.ts";
import type { ResourceClient } from "../client/resource-client.ts";
import { TokenBucket } from "../queue/rate-limiter.ts";
import { EVENTS, fittingNote, microTime, type Happening, type KubeEvent } from "./event.ts";

export interface RecorderOptions {
  readonly client: KubeClient;
  readonly ambient: Ambient;
  /** Who reports, such as example.com/my-controller. */
  readonly controller: string;
  /** Which of its processes. */
  readonly instance: string;
  /** Where events about cluster-scoped objects go. Default "default". */
  readonly defaultNamespace?: string;
  /** The same happening within this time is one series. Default 6 min. */
  readonly seriesMs?: number;
  /** Events per object: a burst, then a slow rate. Default 25, then one per 5 min. */
  readonly perObject?: { readonly burst: number; readonly perSecond: number };
  /** Happenings that wait to be sent; more are dropped and counted. Default 1,000. */
  readonly limit?: number;
  readonly logger?: Logger;
  readonly meter?: Meter;
}

interface Series {
  readonly namespace: string;
  readonly name: string;
  readonly firstAt: number;
  count: number;
  lastAt: number;
}

/** Objects and series remembered at most; the oldest are forgotten first. */
const REMEMBERED = 4_096;

/**
 * Writes Kubernetes Events without getting in anyone's way.
 *
 * *Guarantees*: `record` returns at once and never throws; a happening that repeats within `seriesMs` becomes one Event with a count; one object cannot
 * flood the cluster; memory and the queue are bounded; what cannot be written is logged and dropped, because events are never what work
 * depends on. `flush` waits until everything recorded has been sent or dropped.
 */
export class EventRecorder {
  readonly #options: RecorderOptions;
  readonly #events: ResourceClient<KubeEvent>;
  readonly #logger: Logger;
  readonly #counter: Counter<"outcome">;
  readonly #series = new Map<string, Series>();
  readonly #buckets = new Map<string, TokenBucket>();
  #waiting: Happening[] = [];
  #sending: Promise<void> | undefined;

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

  record(happening: Happening): void {
    if (!this.#mayRecord(happening) || this.#waiting.length >= (this.#options.limit ?? 1_000)) {
      this.#counter.add(1, { outcome: "dropped" });
      return;
    }
    this.#waiting.push(happening);
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
  }

  async flush(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  #mayRecord({ regarding }: Happening): boolean {
    const object = regarding.uid ?? `${regarding.kind}/${regarding.namespace ?? ""}/${regarding.name}`;
    let bucket = this.#buckets.get(object);
    if (!bucket) {
      bucket = new TokenBucket(
        this.#options.ambient.clock,
        this.#options.perObject ?? { burst: 25, perSecond: 1 / 300 },
      );
      remember(this.#buckets, object, bucket);
    }
    return bucket.tryTake();
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      await this.#send(next).catch((thrown: unknown) => {
        this.#counter.add(1, { outcome: "dropped" });
        this.#logger.warn("an event could not be recorded", { fault: Fault.from(thrown), reason: next?.reason });
      });
    }
  }

  async #send(happening: Happening): Promise<void> {
    const now = this.#options.ambient.clock.now();
    const { regarding, related, reason, action, type, note } = happening;
    const id = JSON.stringify([
      regarding.uid ?? [regarding.namespace, regarding.name],
      related?.uid,
      reason,
      action,
      type,
      note,
    ]);
    const series = this.#series.get(id);
    if (series && now - series.lastAt < (this.#options.seriesMs ?? 360_000) && (await this.#count(series, now))) return;
    const namespace = regarding.namespace ?? this.#options.defaultNamespace ?? "default";
    const unique = `${now.toString(16)}${Math.floor(this.#options.ambient.random.next() * 0xffff).toString(16)}`;
    const name = safeName([regarding.name, unique], { maxLength: 253 });
    await this.#events.create({
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name, namespace },
      eventTime: microTime(now),
      reportingController: this.#options.controller,
      reportingInstance: this.#options.instance.slice(0, 128),
      action,
      reason,
      note: fittingNote(note),
      type,
      regarding,
      ...(related ? { related } : {}),
    });
    this.#counter.add(1, { outcome: "created" });
    remember(this.#series, id, { namespace, name, firstAt: now, lastAt: now, count: 1 });
  }

  /** Adds one to a series; false when its Event is gone and must be made anew. */
  async #count(series: Series, now: number): Promise<boolean> {
    try {
      const count = series.count + 1;
      const patch = { series: { count, lastObservedTime: microTime(now) } };
      await this.#events.patch({ namespace: series.namespace, name: series.name }, "merge", patch);
      series.count = count;
      series.lastAt = now;
      this.#counter.add(1, { outcome: "counted" });
      return true;
    } catch (thrown) {
      if (isFault(thrown, "not-found")) return false;
      throw thrown;
    }
  }
}

function remember<V>(memory: Map<string, V>, key: string, value: V): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= REMEMBERED) return;
  const oldest = memory.keys().next();
  if (!oldest.done) memory.delete(oldest.value);
}
