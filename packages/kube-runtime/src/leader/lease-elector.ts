import { abortFault, Fault, isFault, orAbort, sleep, type Ambient, type Timer } from "@oaas/foundation";
import { formatObjectKey, type ObjectKey, type Stored } from "@oaas/kube-core";
import { NOOP_LOGGER, NOOP_METER, type Gauge, type Logger, type Meter } from "@oaas/observability";
import type { KubeClient } from "../client/kube-client.ts";
import type { ResourceClient } from "../client/resource-client.ts";
import { heldLease, LEASES, type Lease } from "./lease.ts";

/** Which lease, as whom, and how fast leadership moves. */
export interface ElectorOptions {
  readonly client: KubeClient;
  readonly ambient: Ambient;
  readonly lease: ObjectKey;
  /** Who we are; must differ between processes. */
  readonly identity: string;
  /** Others take over when the lease was not renewed for this long. Whole seconds. Default 15 s. */
  readonly leaseMs?: number;
  /** We stop leading when we could not renew for this long; must leave a margin below `leaseMs`. Default two thirds of it. */
  readonly renewWithinMs?: number;
  /** How often we renew. Default 2 s. */
  readonly everyMs?: number;
  /** How often we look whether the lease of another is free: how long nobody leads when it is given back. By default `everyMs`. */
  readonly lookEveryMs?: number;
  readonly logger?: Logger;
  readonly meter?: Meter;
}

/** What came of one try to hold the lease. */
type Try = { readonly held: Stored<Lease> } | "raced" | "another's";

/**
 * Leadership by a Lease.
 *
 * *Flow*: follow (look at the lease every `lookEveryMs`) → take it when it is free or has not changed for its duration → lead, renewing → lose it when
 * it cannot be renewed in time or someone else has it → follow again. `stop` gives it back, so that another takes over at once.
 *
 * *Guarantees*: time is measured on our own monotonic clock only, so that jumps and differences of wall clocks do not matter; leadership counts from
 * the moment a renewal was *sent*, and another's lease from the moment its last renewal was *seen*, so we stop before anyone else may start; `isLeading` asks
 * the clock and not a timer, so that a process that was frozen for longer than the lease finds that it no longer leads before it does anything.
 *
 * *Assumptions*: all candidates use the same durations. *Caveats*: a write that was sent while leading may arrive later; what must not happen
 * twice needs a precondition of its own. A machine that was suspended stops its monotonic clock too: no process can tell. Whoever deletes the
 * Lease ends its protection.
 */
export class LeaseElector {
  readonly #options: ElectorOptions;
  readonly #leases: ResourceClient<Lease>;
  readonly #logger: Logger;
  readonly #leaseMs: number;
  readonly #renewWithinMs: number;
  readonly #gauge: Gauge<"lease">;
  readonly #stopping = new AbortController();
  /** The lease as last seen, and when by our clock we first saw it so. */
  #observed: { readonly lease: Stored<Lease>; readonly at: number } | undefined;
  /** When, by our clock, the last renewal that succeeded was sent. */
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

  /** Whether we lead at this very moment. Ask before each write, or let `fenced` ask. */
  get isLeading(): boolean {
    return this.#term !== undefined && this.#now() - this.#renewedAt < this.#renewWithinMs;
  }

  /** Who leads, as last seen; undefined when nobody does. */
  get leader(): string | undefined {
    return this.#observed?.lease.spec?.holderIdentity || undefined;
  }

  /** Resolves when we lead, with a signal that aborts when we no longer do; rejects when the given signal aborts or the elector stops before. */
  async leading(signal?: AbortSignal): Promise<AbortSignal> {
    for (;;) {
      if (signal?.aborted) throw abortFault(signal);
      if (this.#stopping.signal.aborted) throw abortFault(this.#stopping.signal);
      if (this.#term && this.isLeading) return this.#term.signal;
      await orAbort(this.#nextTerm.promise, signal);
    }
  }

  /** Begins to follow or lead. Once: an elector that was stopped stays so. */
  start(): void {
    if (!this.#stopping.signal.aborted) this.#running ??= this.#run();
  }

  /** Stops leading, gives the lease back if we hold it, and stops. End the work first. Repeatable. */
  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return this.#running;
    this.#stopping.abort(new Fault({ kind: "cancelled" }, "the elector stops"));
    this.#nextTerm.resolve();
    this.#lose("the process stops");
    // In the chain, so that a second stop waits for the release too.
    this.#running = this.#running?.then(() => this.#release());
    await this.#running;
  }

  #now(): number {
    return this.#options.ambient.clock.monotonic();
  }

  async #run(): Promise<void> {
    const { timers, random } = this.#options.ambient;
    const { everyMs = 2_000, lookEveryMs = everyMs } = this.#options;
    while (!this.#stopping.signal.aborted) {
      const isKnown = await this.#turn();
      // Followers are spread apart, and never slower than a leader that must be replaced; a server that does not answer is not asked more often.
      const waitMs = this.isLeading ? everyMs : (isKnown ? lookEveryMs : everyMs) * (1 - 0.2 * random.next());
      await sleep(timers, waitMs, this.#stopping.signal).catch(() => undefined);
    }
  }

  /** One look and, where it is ours to hold, one write; answers whether the server told whose the lease is. */
  async #turn(): Promise<boolean> {
    let isKnown = true;
    try {
      let result = await this.#tryHold();
      // Someone touched the lease between our look and our write: look again to see whose it is.
      if (result === "raced") result = await this.#tryHold();
      if (result === "another's") this.#lose("another process holds the lease");
    } catch (thrown) {
      if (this.#stopping.signal.aborted) return false;
      this.#logger.warn("the lease could not be read or renewed", { fault: Fault.from(thrown) });
      isKnown = false;
    }
    if (!this.isLeading) this.#lose("the lease could not be renewed in time");
    return isKnown;
  }

  /** Creates, takes or renews the lease. */
  async #tryHold(): Promise<Try> {
    const sentAt = this.#now();
    const { lease: key, identity, ambient } = this.#options;
    // Short, so that several tries fit into the time in which we must renew.
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

  /** Whether the lease has stood unchanged, in our sight, for its whole duration. */
  #hasLapsed(lease: Stored<Lease>): boolean {
    const durationMs = (lease.spec?.leaseDurationSeconds ?? this.#leaseMs / 1000) * 1000;
    return this.#observed !== undefined && this.#now() - this.#observed.at > durationMs;
  }

  #observe(lease: Stored<Lease> | undefined): void {
    if (lease && this.#observed?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#observed = lease && { lease, at: this.#now() };
  }

  #hold(lease: Stored<Lease>, sentAt: number): void {
    // A renewal that came too late begins a new term: those who asked in between were told that the old one is over.
    if (!this.isLeading) this.#lose("the lease was not renewed in time");
    this.#observed = { lease, at: this.#now() };
    this.#renewedAt = sentAt;
    if (this.#term || this.#stopping.signal.aborted) return;
    const term = new AbortController();
    this.#term = term;
    this.#gauge.set(1, { lease: this.#options.lease.name });
    this.#logger.info("this process leads", { identity: this.#options.identity });
    this.#watchTerm(term);
    this.#nextTerm.resolve();
    this.#nextTerm = Promise.withResolvers<void>();
  }

  /** Ends the term on time even while a renewal hangs. */
  #watchTerm(term: AbortController): void {
    if (this.#term !== term) return;
    const leftMs = this.#renewedAt + this.#renewWithinMs - this.#now();
    if (leftMs <= 0) this.#lose("the lease could not be renewed in time");
    else this.#termTimer = this.#options.ambient.timers.after(leftMs, () => this.#watchTerm(term));
  }

  #lose(why: string): void {
    const term = this.#term;
    if (!term) return;
    this.#term = undefined;
    this.#termTimer?.cancel();
    this.#gauge.set(0, { lease: this.#options.lease.name });
    this.#logger.warn("this process no longer leads", { why });
    term.abort(new Fault({ kind: "cancelled" }, `leadership was lost: ${why}`));
  }

  /** Gives the lease back if the server says it is ours: also one that we took while being stopped. */
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
      this.#logger.warn("the lease could not be given back", { fault: Fault.from(thrown) });
    }
  }
}

/** The version in it makes the update a claim on what we saw. */
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
