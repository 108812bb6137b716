import { abortFault, Fault, isFault, orAbort, sleep, type Ambient, type Timer } from "@oaas/foundation";
import { formatObjectKey, type ObjectKey, type Stored } from "@oaas/kube-core";
import { NOOP_LOGGER, NOOP_METER, type Gauge, type Logger, type Meter } from "@oaas/observability";
import type { KubeClient } from "../client/kube-client.ts";
import type { ResourceClient } from "../client/resource-client.ts";
import { heldLease, LEASES, type Lease } from "./lease.ts";

/** Lease, identity and timing of an elector. */
export interface ElectorOptions {
  readonly client: KubeClient;
  readonly ambient: Ambient;
  readonly lease: ObjectKey;
  /** Must differ between processes. */
  readonly identity: string;
  /** Another candidate takes over when the Lease was not renewed for this long. Whole seconds. Default 15 s. */
  readonly leaseMs?: number;
  /**
   * The leader stops leading when it could not renew for this long; must be less than `leaseMs`. Default two thirds of
   * it.
   */
  readonly renewWithinMs?: number;
  /** Renewal interval. Default 2 s. */
  readonly everyMs?: number;
  /** How often a follower checks for a free Lease: the longest gap after a release. Default `everyMs`. */
  readonly pollIntervalMs?: number;
  readonly logger?: Logger;
  readonly meter?: Meter;
}

/** Result of one attempt to hold the lease. */
type Try = { readonly held: Stored<Lease> } | "raced" | "another's";

/**
 * Leader election by a Lease.
 *
 * *Flow*: follow (read the Lease every `pollIntervalMs`) → acquire it when it is free or unchanged for its duration → lead
 * and renew → lose it when it cannot be renewed in time or another candidate holds it → follow again. `stop` releases
 * it, so that another candidate can take over at once.
 *
 * *Guarantees*: time is measured on the local monotonic clock only, so wall clock jumps and differences do not matter;
 * leadership counts from the moment a renewal was *sent*, and another's lease from the moment its last renewal was
 * *seen*, so the old leader stops before a new one can start; `isLeading` reads the clock, not a timer, so a process
 * that was paused for longer than the lease notices before it does anything.
 *
 * *Assumptions*: all candidates use the same durations. *Caveats*: a write that was sent while leading may arrive
 * later; writes that must not happen twice need their own precondition. A suspended machine also stops its monotonic
 * clock, which no process can detect. Deleting the Lease removes its protection.
 */
export class LeaseElector {
  readonly #options: ElectorOptions;
  readonly #leases: ResourceClient<Lease>;
  readonly #logger: Logger;
  readonly #leaseMs: number;
  readonly #renewWithinMs: number;
  readonly #gauge: Gauge<"lease">;
  readonly #stopping = new AbortController();
  /** The last observed lease, and when it was first observed in this state. */
  #observed: { readonly lease: Stored<Lease>; readonly at: number } | undefined;
  /** When the last successful renewal was sent, on the local clock. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #term: AbortController | undefined;
  #termTimer: Timer | undefined;
  #nextTerm = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;

  constructor(options: ElectorOptions) {
    this.#options = options;
    this.#leases = options.client.resource(LEASES);
    this.#leaseMs = options.leaseMs ?? 15_000;
    this.#renewWithinMs = options.renewWithinMs ?? (this.#leaseMs * 2) / 3;
    if (!(this.#leaseMs >= 1000 && this.#leaseMs % 1000 === 0)) throw new TypeError("leaseMs must be whole seconds");
    if (this.#renewWithinMs >= this.#leaseMs) throw new TypeError("renewWithinMs must be smaller than leaseMs");
    this.#logger = (options.logger ?? NOOP_LOGGER).child({ lease: formatObjectKey(options.lease) });
    this.#gauge = (options.meter ?? NOOP_METER).gauge({
      name: "kube_leader_leading",
      help: "1 while this process leads.",
      labels: ["lease"],
    });
    this.#gauge.set(0, { lease: options.lease.name });
  }

  /** Whether this process leads at this moment. Check before each write, or let `fenced` check. */
  get isLeading(): boolean {
    return this.#term !== undefined && this.#now() - this.#renewedAt < this.#renewWithinMs;
  }

  /** The last observed leader; undefined when there is none. */
  get leader(): string | undefined {
    return this.#observed?.lease.spec?.holderIdentity || undefined;
  }

  /**
   * Resolves when this process leads, with a signal that aborts when it no longer does; rejects when the given signal
   * aborts or the elector stops before.
   */
  async leading(signal?: AbortSignal): Promise<AbortSignal> {
    for (;;) {
      if (signal?.aborted) throw abortFault(signal);
      if (this.#stopping.signal.aborted) throw abortFault(this.#stopping.signal);
      if (this.#term && this.isLeading) return this.#term.signal;
      await orAbort(this.#nextTerm.promise, signal);
    }
  }

  /** Starts following. A stopped elector cannot be restarted. */
  start(): void {
    if (!this.#stopping.signal.aborted) this.#running ??= this.#run();
  }

  /** Stops leading, releases the lease if held, and stops. End the work first. Idempotent. */
  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return this.#running;
    this.#stopping.abort(new Fault({ kind: "cancelled" }, "the elector is stopping"));
    this.#nextTerm.resolve();
    this.#lose("the process is stopping");
    // Chained, so that a second stop waits for the release too.
    this.#running = this.#running?.then(() => this.#release());
    await this.#running;
  }

  #now(): number {
    return this.#options.ambient.clock.monotonic();
  }

  async #run(): Promise<void> {
    const { timers, random } = this.#options.ambient;
    const { everyMs = 2_000, pollIntervalMs = everyMs } = this.#options;
    while (!this.#stopping.signal.aborted) {
      const isKnown = await this.#turn();
      // Adds jitter for followers, but never slower than a leader must be replaced; an unresponsive server is not
      // queried more often.
      const waitMs = this.isLeading ? everyMs : (isKnown ? pollIntervalMs : everyMs) * (1 - 0.2 * random.next());
      await sleep(timers, waitMs, this.#stopping.signal).catch(() => undefined);
    }
  }

  /** One read and, if the lease can be held, one write; returns whether the server reported the holder. */
  async #turn(): Promise<boolean> {
    let isKnown = true;
    try {
      let result = await this.#tryHold();
      // The lease changed between read and write: read again to see its holder.
      if (result === "raced") result = await this.#tryHold();
      if (result === "another's") this.#lose("another process holds the lease");
    } catch (thrown) {
      if (this.#stopping.signal.aborted) return false;
      this.#logger.warn("read or renew lease failed", { fault: Fault.from(thrown) });
      isKnown = false;
    }
    if (!this.isLeading) this.#lose("the lease was not renewed in time");
    return isKnown;
  }

  /** Creates, acquires or renews the lease. */
  async #tryHold(): Promise<Try> {
    const sentAt = this.#now();
    const { lease: key, identity, ambient } = this.#options;
    // Short, so that several attempts fit into the renewal window.
    const call = { signal: this.#stopping.signal, deadlineMs: this.#renewWithinMs / 4 };
    const present = await this.#leases.find(key, call);
    this.#observe(present);
    const holder = present?.spec?.holderIdentity ?? "";
    if (present && holder !== identity && holder !== "" && !this.#hasLapsed(present)) return "another's";
    const body = heldLease(present, { identity, leaseMs: this.#leaseMs, nowMs: ambient.clock.now() });
    try {
      const held = present
        ? await this.#leases.update({ ...body, metadata: metadataOf(present) }, call)
        : await this.#leases.create({ ...body, metadata: { ...key } }, call);
      this.#hold(held, sentAt);
      return { held };
    } catch (thrown) {
      if (isFault(thrown, "conflict") || isFault(thrown, "already-exists")) return "raced";
      throw thrown;
    }
  }

  /** Whether the lease was observed unchanged for its whole duration. */
  #hasLapsed(lease: Stored<Lease>): boolean {
    const durationMs = (lease.spec?.leaseDurationSeconds ?? this.#leaseMs / 1000) * 1000;
    return this.#observed !== undefined && this.#now() - this.#observed.at > durationMs;
  }

  #observe(lease: Stored<Lease> | undefined): void {
    if (lease && this.#observed?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#observed = lease && { lease, at: this.#now() };
  }

  #hold(lease: Stored<Lease>, sentAt: number): void {
    // A late renewal starts a new term: callers in between already learned that the old one ended.
    if (!this.isLeading) this.#lose("the lease was not renewed in time");
    this.#observed = { lease, at: this.#now() };
    this.#renewedAt = sentAt;
    if (this.#term || this.#stopping.signal.aborted) return;
    const term = new AbortController();
    this.#term = term;
    this.#gauge.set(1, { lease: this.#options.lease.name });
    this.#logger.info("leadership acquired", { identity: this.#options.identity });
    this.#watchTerm(term);
    this.#nextTerm.resolve();
    this.#nextTerm = Promise.withResolvers<void>();
  }

  /** Ends the term on time even while a renewal hangs. */
  #watchTerm(term: AbortController): void {
    if (this.#term !== term) return;
    const leftMs = this.#renewedAt + this.#renewWithinMs - this.#now();
    if (leftMs <= 0) this.#lose("the lease was not renewed in time");
    else this.#termTimer = this.#options.ambient.timers.after(leftMs, () => this.#watchTerm(term));
  }

  #lose(reason: string): void {
    const term = this.#term;
    if (!term) return;
    this.#term = undefined;
    this.#termTimer?.cancel();
    this.#gauge.set(0, { lease: this.#options.lease.name });
    this.#logger.warn("leadership ended", { reason });
    term.abort(new Fault({ kind: "cancelled" }, `leadership was lost: ${reason}`));
  }

  /** Releases the lease if the server reports this process as holder, including one acquired during the stop. */
  async #release(): Promise<void> {
    const { lease: key, identity } = this.#options;
    const call = { deadlineMs: Math.min(2_000, this.#leaseMs) };
    try {
      const present = await this.#leases.find(key, call);
      if (present?.spec?.holderIdentity !== identity) return;
      const { resourceVersion } = present.metadata;
      const free = { metadata: { resourceVersion }, spec: { holderIdentity: "", leaseDurationSeconds: 1 } };
      await this.#leases.patch(key, "merge", free, call);
    } catch (thrown) {
      this.#logger.warn("release lease failed", { fault: Fault.from(thrown) });
    }
  }
}

/** The version makes the update conditional on the observed state. */
function metadataOf({ metadata }: Stored<Lease>): Lease["metadata"] {
  const { namespace, name, resourceVersion, labels, annotations } = metadata;
  return {
    name,
    resourceVersion,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
  };
}
