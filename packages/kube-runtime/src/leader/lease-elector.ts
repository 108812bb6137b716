import { Fault, isFault, sleep, type Ambient, type Timer } from "@oaas/foundation";
import type { KubeObject, ObjectKey, Stored } from "@oaas/kube-core";
import { NOOP_LOGGER, NOOP_METER, type Gauge, type Logger, type Meter } from "@oaas/observability";
import type { KubeClient } from "../client/kube-client.ts";
import type { ResourceClient } from "../client/resource-client.ts";
import { resourceType } from "../client/resource-type.ts";

/** A Lease of coordination.k8s.io/v1. */
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export const LEASES = resourceType<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  resource: "leases",
  namespaced: true,
});

export interface ElectorOptions {
  readonly client: KubeClient;
  readonly ambient: Ambient;
  readonly lease: ObjectKey;
  /** Who we are; must differ between processes. */
  readonly identity: string;
  /** Others take over when the lease was not renewed for this long. Whole seconds. Default 15 s. */
  readonly leaseMs?: number;
  /** We stop leading when we could not renew for this long; must leave a margin below `leaseMs`. Default 10 s. */
  readonly renewWithinMs?: number;
  /** How often we renew, or look whether the lease is free. Default 2 s. */
  readonly everyMs?: number;
  readonly logger?: Logger;
  readonly meter?: Meter;
}

/**
 * Leadership by a Lease.
 *
 * *Flow*: follow (look at the lease every `everyMs`) → take it when it is free or has not changed for its duration → lead, renewing → lose it when
 * it cannot be renewed in time or someone else has it → follow again. `stop` gives it back, so that another takes over at once.
 *
 * *Guarantees*: time is measured on our own monotonic clock only, so that jumps and differences of wall clocks do not matter; leadership counts from
 * the moment a renewal was *sent*, so we stop before anyone else may start; `isLeading` asks the clock and not a timer, so that a process that was
 * frozen for longer than the lease finds that it no longer leads before it does anything.
 *
 * *Assumptions*: all candidates use the same durations. *Caveats*: a write that was sent while leading may arrive later; what must not happen
 * twice needs a precondition of its own.
 */
export class LeaseElector {
  readonly #options: ElectorOptions;
  readonly #leases: ResourceClient<Lease>;
  readonly #logger: Logger;
  readonly #leaseMs: number;
  readonly #renewWithinMs: number;
  readonly #leadingGauge: Gauge<"lease">;
  readonly #stopping = new AbortController();
  /** The lease as last seen, and when by our clock we first saw it so. */
  #observed: { readonly lease: Stored<Lease>; readonly at: number } | undefined;
  /** When, by our clock, the last renewal that succeeded was sent. */
  #renewedAt: number | undefined;
  #term: AbortController | undefined;
  #clockTimer: Timer | undefined;
  #waiters: (() => void)[] = [];
  #running: Promise<void> | undefined;

  constructor(options: ElectorOptions) {
    this.#options = options;
    this.#leases = options.client.resource(LEASES);
    this.#leaseMs = options.leaseMs ?? 15_000;
    this.#renewWithinMs = options.renewWithinMs ?? 10_000;
    if (this.#renewWithinMs >= this.#leaseMs) throw new TypeError("renewWithinMs must be smaller than leaseMs");
    this.#logger = (options.logger ?? NOOP_LOGGER).child({ lease: `${options.lease.namespace}/${options.lease.name}` });
    const lease = options.lease.name;
    this.#leadingGauge = (options.meter ?? NOOP_METER).gauge({
      name: "kube_leader_leading",
      help: "1 while this process leads.",
      labels: ["lease"],
      startAtZero: [{ lease }],
    });
  }

  /** Whether we lead at this very moment. Ask before each write. */
  get isLeading(): boolean {
    return (
      this.#term !== undefined &&
      this.#renewedAt !== undefined &&
      this.#options.ambient.clock.monotonic() - this.#renewedAt < this.#renewWithinMs
    );
  }

  /** Who leads, as last seen; undefined when nobody does. */
  get leader(): string | undefined {
    return this.#observed?.lease.spec?.holderIdentity || undefined;
  }

  /** Resolves when we lead, with a signal that aborts when we no longer do. */
  async leading(signal?: AbortSignal): Promise<AbortSignal> {
    while (!this.#term || !this.isLeading) {
      signal?.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const onAbort = (): void => reject(signal?.reason as Error);
        signal?.addEventListener("abort", onAbort, { once: true });
        this.#waiters.push(() => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        });
      });
    }
    return this.#term.signal;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Stops leading, gives the lease back if we hold it, and stops. Repeatable. */
  async stop(): Promise<void> {
    const led = this.isLeading;
    this.#stopping.abort(new Fault({ kind: "cancelled" }, "the elector stops"));
    await this.#running;
    this.#lose("the process stops");
    if (led)
      await this.#release().catch((thrown: unknown) =>
        this.#logger.warn("the lease could not be given back", { fault: Fault.from(thrown) }),
      );
  }

  async #run(): Promise<void> {
    const { timers, random } = this.#options.ambient;
    const everyMs = this.#options.everyMs ?? 2_000;
    while (!this.#stopping.signal.aborted) {
      await this.#turn();
      // Spread candidates apart; a leader renews steadily.
      const waitMs = this.isLeading ? everyMs : everyMs * (1 + 0.2 * random.next());
      await sleep(timers, waitMs, this.#stopping.signal).catch(() => undefined);
    }
  }

  async #turn(): Promise<void> {
    const sentAt = this.#options.ambient.clock.monotonic();
    try {
      const lease = await this.#tryHold(sentAt);
      if (lease) this.#hold(lease, sentAt);
      else this.#lose("another process holds the lease");
    } catch (thrown) {
      if (this.#stopping.signal.aborted) return;
      const fault = Fault.from(thrown);
      this.#logger.warn("the lease could not be renewed", { fault });
      if (!this.isLeading) this.#lose("the lease could not be renewed in time");
    }
  }

  /** Creates, takes or renews the lease; undefined when someone else has it. */
  async #tryHold(now: number): Promise<Stored<Lease> | undefined> {
    const { lease: key, identity } = this.#options;
    // A call must not outlast the time in which its success would still count.
    const call = { signal: this.#stopping.signal, deadlineMs: Math.min(this.#renewWithinMs / 2, 5_000) };
    const present = await this.#leases.find(key, call);
    if (!present) {
      return this.#orLost(this.#leases.create({ ...this.#body(undefined), metadata: { ...key } }, call));
    }
    this.#observe(present, now);
    const holder = present.spec?.holderIdentity ?? "";
    if (holder !== identity && holder !== "" && !this.#hasLapsed(present, now)) return undefined;
    const { namespace, name, resourceVersion } = present.metadata;
    const metadata = { name, resourceVersion, ...(namespace === undefined ? {} : { namespace }) };
    return this.#orLost(this.#leases.update({ ...this.#body(present), metadata }, call));
  }

  /** Whether the lease has stood unchanged, in our sight, for its whole duration. */
  #hasLapsed(lease: Stored<Lease>, now: number): boolean {
    const durationMs = (lease.spec?.leaseDurationSeconds ?? this.#leaseMs / 1000) * 1000;
    return this.#observed !== undefined && now - this.#observed.at > durationMs;
  }

  #observe(lease: Stored<Lease>, now: number): void {
    if (this.#observed?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#observed = { lease, at: now };
  }

  #body(present: Stored<Lease> | undefined): Omit<Lease, "metadata"> {
    const { identity, ambient } = this.#options;
    const now = new Date(ambient.clock.now()).toISOString().replace("Z", "000Z");
    const renewing = present?.spec?.holderIdentity === identity;
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.round(this.#leaseMs / 1000),
        acquireTime: renewing ? (present.spec?.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: (present?.spec?.leaseTransitions ?? 0) + (renewing || !present ? 0 : 1),
      },
    };
  }

  /** Someone was faster: not a failure, just not our lease. */
  async #orLost(write: Promise<Stored<Lease>>): Promise<Stored<Lease> | undefined> {
    try {
      return await write;
    } catch (thrown) {
      if (isFault(thrown, "conflict") || isFault(thrown, "already-exists")) return undefined;
      throw thrown;
    }
  }

  #hold(lease: Stored<Lease>, sentAt: number): void {
    this.#observed = { lease, at: sentAt };
    this.#renewedAt = sentAt;
    if (this.#term || this.#stopping.signal.aborted) return;
    this.#term = new AbortController();
    this.#leadingGauge.set(1, { lease: this.#options.lease.name });
    this.#logger.info("this process leads", { identity: this.#options.identity });
    for (const resolve of this.#waiters.splice(0)) resolve();
    this.#watchClock(this.#term);
  }

  /** Ends the term on time even while a renewal hangs. */
  #watchClock(term: AbortController): void {
    if (this.#term !== term || this.#renewedAt === undefined) return;
    const leftMs = this.#renewedAt + this.#renewWithinMs - this.#options.ambient.clock.monotonic();
    if (leftMs <= 0) {
      this.#lose("the lease could not be renewed in time");
      return;
    }
    this.#clockTimer = this.#options.ambient.timers.after(leftMs, () => this.#watchClock(term));
  }

  #lose(why: string): void {
    if (!this.#term) return;
    const term = this.#term;
    this.#term = undefined;
    this.#renewedAt = undefined;
    this.#clockTimer?.cancel();
    this.#leadingGauge.set(0, { lease: this.#options.lease.name });
    this.#logger.warn("this process no longer leads", { why });
    term.abort(new Fault({ kind: "cancelled" }, `leadership was lost: ${why}`));
  }

  async #release(): Promise<void> {
    const { lease: key, identity } = this.#options;
    const present = await this.#leases.find(key, { deadlineMs: 2_000 });
    if (present?.spec?.holderIdentity !== identity) return;
    const metadata = { resourceVersion: present.metadata.resourceVersion };
    await this.#leases.patch(
      key,
      "merge",
      { metadata, spec: { holderIdentity: "", leaseDurationSeconds: 1 } },
      { deadlineMs: 2_000 },
    );
  }
}
