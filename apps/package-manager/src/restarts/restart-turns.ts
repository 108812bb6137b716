import { Fault, isFault, sleep, timestamp, type Ambient } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { LOG_FIELDS, type Logger } from "@oaas/observability";
import {
  acquire,
  combineTransactions,
  conflictOf,
  type Collection,
  type CollectionView,
  type KeyValueStore,
  type Ownership,
  type Stored,
  type Transaction,
} from "@oaas/storage";
import type { DeploymentPauses } from "../deployments/deployment-pauses.ts";
import type { StoredFreezeCalendar } from "../deployments/freeze-calendar.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { BackgroundAudit, CrmGateway } from "../ports.ts";
import { placementEntries, type DeploymentRecord, type Placement } from "../records/deployment-record.ts";
import { BACKGROUND } from "../records/deployment-saga.ts";
import { ownerOf } from "../records/replan-record.ts";
import type { RestartTurnRecord } from "../records/restart-turn.ts";
import type { RuntimeView } from "../status/runtime-view.ts";
import { listTurns, openTurns } from "../stores/turn-store.ts";
import { decideTurn, type NodeAddress, type TurnDecision, type TurnFacts } from "./decide-turn.ts";
import { isAnyWaiting, storeMembers, type UnitReading } from "./store-members.ts";
import type { TurnMetrics } from "./turn-metrics.ts";

export interface RestartTurnsOptions {
  readonly store: KeyValueStore;
  readonly view: Pick<CollectionView<DeploymentRecord>, "all" | "get">;
  readonly runtimes: Pick<RuntimeView, "get" | "syncState" | "syncError">;
  readonly gateway: Pick<CrmGateway, "unit" | "grantRestart">;
  readonly planOf: (key: DeploymentKey, record: DeploymentRecord) => Promise<DeploymentPlan | undefined>;
  readonly pauses: Pick<DeploymentPauses, "of">;
  readonly freezes: Pick<StoredFreezeCalendar, "active">;
  readonly audit: BackgroundAudit;
  readonly metrics: TurnMetrics;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly leaseMs?: number;
}

/** The lease of the loop. */
const LEASE_KEY = "o/restart-turns";
/** Changes of reports are collected for this time. */
const DEBOUNCE_MS = 200;
/** The time between two rounds while a node waits or restarts, in addition to those after a change. */
const RETRY_MS = 10_000;
/** The longest sleep; a change of a report wakes the loop. */
const IDLE_MS = 60_000;

type StoredTurn = Stored<RestartTurnRecord>;

/**
 * Restarts the state stores with members in several clusters, one node at a time.
 *
 * ```
 *   WaitingForTurn in the reports ─▶ begin: store the turn ─▶ grant: call the manager, store its answer ─▶ end: delete the turn
 * ```
 *
 * *Guarantees*
 * - One process is active per store, and its writes are fenced by its lease.
 * - A deployment has at most one turn. It is stored before the first call and deleted when the node is back, so that a crash
 *   at any point leaves the same turn to the next process.
 * - A turn begins and ends only on reports that were read for it, never on those of the watch.
 * - Nothing is called or written while no node waits.
 */
export class RestartTurns {
  readonly #options: RestartTurnsOptions;
  readonly #turns: Collection<RestartTurnRecord>;
  readonly #stop = new AbortController();
  /** Of the active process; it is the only writer. */
  #open = new Map<DeploymentKey, StoredTurn>();
  #ownership: Ownership | undefined;
  #isDirty = true;
  #isBusy = false;
  #wake: (() => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(options: RestartTurnsOptions) {
    this.#options = options;
    this.#turns = openTurns(options.store);
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** A report of a state store changed. */
  notify(): void {
    this.#isDirty = true;
    this.#wake?.();
  }

  /** Takes one step for every deployment with a turn, or with nodes that wait for one. */
  async round(): Promise<void> {
    const { view, logger, metrics } = this.#options;
    this.#isBusy = false;
    const waiting = [...view.all()].filter(({ record }) => this.#isWaiting(record)).map(({ id }) => id);
    for (const key of new Set([...this.#open.keys(), ...(waiting as DeploymentKey[])])) {
      if (this.#stop.signal.aborted || this.#ownership?.lease.lost.aborted === true) return;
      this.#isBusy = true;
      try {
        await this.#step(key);
      } catch (thrown) {
        const error = Fault.from(thrown);
        // Another process took over, or the deployment was deleted meanwhile: read the turns again.
        if (conflictOf(thrown) !== undefined) throw thrown;
        logger.warn("advance restart turn failed", { [LOG_FIELDS.deploymentId]: key, error });
      }
    }
    metrics.open.set(this.#open.size);
  }

  /** Decides on the reports of the watch first, which costs no call, and acts on reports that are read now. */
  async #step(key: DeploymentKey): Promise<void> {
    const { view, ambient } = this.#options;
    const record = view.get(key)?.record;
    const turn = this.#open.get(key);
    if (record === undefined || record.deletion !== undefined || isOfEarlier(turn, record)) {
      if (turn !== undefined) await this.#end(key, turn);
      return;
    }
    const plan = await this.#options.planOf(key, record);
    const decide = (facts: TurnFacts): TurnDecision => decideTurn(turn?.record, facts, ambient.clock.now());
    const watched = decide(
      this.#facts(key, record, plan, (cluster, placement) => this.#lastReading(cluster, placement)),
    );
    if (watched.action === "none" || watched.action === "wait") return;
    const readings = await this.#readUnits(record);
    const read = (cluster: ClusterName): UnitReading => readings.get(cluster) ?? { unknown: "it was not read" };
    const facts = this.#facts(key, record, plan, read);
    const decision = decide(facts);
    if (decision.action === "begin") return this.#begin(key, record, decision.node, facts);
    if (turn === undefined) return;
    if (decision.action === "grant") return this.#grant(key, turn);
    if (decision.action === "end") return this.#end(key, turn);
  }

  #facts(
    key: DeploymentKey,
    record: DeploymentRecord,
    plan: DeploymentPlan | undefined,
    read: (cluster: ClusterName, placement: Placement) => UnitReading,
  ): TurnFacts {
    const hold = turnHold(this.#options, key, record);
    return {
      members: storeMembers(record, plan, read),
      ...(plan?.odgm === undefined ? {} : { copies: plan.odgm.replicaCount }),
      ...(hold === undefined ? {} : { hold }),
    };
  }

  async #begin(
    key: DeploymentKey,
    record: DeploymentRecord,
    { cluster, nodeId }: NodeAddress,
    { members }: TurnFacts,
  ): Promise<void> {
    const { ambient, audit, logger, metrics } = this.#options;
    const member = members.find((one) => one.cluster === cluster);
    if (member === undefined) return;
    const turn: RestartTurnRecord = {
      id: ambient.ids.uuid(),
      owner: ownerOf(record),
      cluster,
      unitId: member.unitId,
      ...(member.namespace === undefined ? {} : { namespace: member.namespace }),
      nodeId,
      since: timestamp(ambient.clock.now()),
    };
    const target = `deployment/${key}`;
    const end = await audit.begin({ by: BACKGROUND.turns, action: "grantRestart", target, correlationId: turn.id });
    try {
      const staged = this.#turns.stageCreate(key, turn);
      const { revision } = await this.#commit(staged);
      this.#open.set(key, this.#turns.committed(staged, revision));
    } catch (thrown) {
      end({ status: 409, reason: thrown instanceof Error ? thrown.message : String(thrown) });
      throw thrown;
    }
    end({ status: 200, reason: `node ${nodeId} in ${cluster} restarts` });
    metrics.granted.add(1);
    logger.info("begin restart turn", { [LOG_FIELDS.deploymentId]: key, cluster, node: nodeId, turn: turn.id });
    const stored = this.#open.get(key);
    if (stored !== undefined) await this.#grant(key, stored);
  }

  /** A call that fails is repeated with the same id: the turn stays open until it is answered. */
  async #grant(key: DeploymentKey, stored: StoredTurn): Promise<void> {
    const { gateway, ambient, logger } = this.#options;
    const { cluster, unitId, nodeId, id, namespace } = stored.record;
    let accepted: boolean;
    try {
      const signal = this.#callSignal();
      accepted = await gateway.grantRestart(cluster, unitId, { nodeId, turnId: id }, { namespace, signal });
    } catch (thrown) {
      // The unit does not exist any more: there is nothing to restart.
      if (!isFault(thrown, "not-found")) {
        const error = Fault.from(thrown);
        return logger.warn("grant restart failed", { [LOG_FIELDS.deploymentId]: key, cluster, node: nodeId, error });
      }
      accepted = false;
    }
    const answer = { accepted, atMs: ambient.clock.now() };
    const staged = this.#turns.stageUpdate(stored, { ...stored.record, answer });
    const { revision } = await this.#commit(staged);
    this.#open.set(key, this.#turns.committed(staged, revision, stored));
    // A turn that is over does not wait for the next change of a report.
    if (!accepted) this.#isDirty = true;
  }

  async #end(key: DeploymentKey, stored: StoredTurn): Promise<void> {
    const { cluster, nodeId, id } = stored.record;
    await this.#commit(this.#turns.stageDelete(stored));
    this.#open.delete(key);
    // The next node does not wait for the next change of a report.
    this.#isDirty = true;
    this.#options.logger.info("end restart turn", { [LOG_FIELDS.deploymentId]: key, cluster, node: nodeId, turn: id });
  }

  #commit(staged: Transaction): Promise<{ readonly revision: number }> {
    const fence = this.#ownership?.fence;
    const fenced = fence === undefined ? { writes: [] } : { conditions: [fence], writes: [] };
    return this.#options.store.commit(combineTransactions(staged, fenced));
  }

  #isWaiting(record: DeploymentRecord): boolean {
    if (record.deletion !== undefined) return false;
    return isAnyWaiting(storeMembers(record, undefined, (cluster, placement) => this.#lastReading(cluster, placement)));
  }

  /** What the watch last reported about a unit. */
  #lastReading(cluster: ClusterName, { unitId, namespace }: Placement): UnitReading {
    const { runtimes } = this.#options;
    const report = runtimes.get(cluster, unitId, namespace)?.report;
    if (runtimes.syncState(cluster) === "unknown") {
      return { unknown: `it cannot be read: ${runtimes.syncError(cluster) ?? "its units are being listed"}` };
    }
    return report ?? { unknown: MISSING };
  }

  async #readUnits(record: DeploymentRecord): Promise<ReadonlyMap<ClusterName, UnitReading>> {
    const { gateway } = this.#options;
    const signal = this.#callSignal();
    const read = placementEntries(record).map(async ([cluster, { unitId, namespace }]) => {
      try {
        const report = await gateway.unit(cluster, unitId, { namespace, signal });
        return [cluster, report ?? { unknown: MISSING }] as const;
      } catch (thrown) {
        return [cluster, { unknown: Fault.from(thrown).message }] as const;
      }
    });
    return new Map(await Promise.all(read));
  }

  /** A process that lost its lease makes no further call. */
  #callSignal(): AbortSignal {
    const { signal } = this.#stop;
    return this.#ownership === undefined ? signal : AbortSignal.any([signal, this.#ownership.lease.lost]);
  }

  async #run(): Promise<void> {
    const { store, ambient, logger, leaseMs = 15_000 } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      let delayMs = leaseMs;
      try {
        if (this.#ownership === undefined || this.#ownership.lease.lost.aborted) {
          const acquired = await acquire(store, { key: LEASE_KEY, owner: ambient.ids.uuid(), ttlMs: leaseMs });
          this.#ownership = acquired.owned ? acquired.ownership : undefined;
          if (acquired.owned) this.#open = await listTurns(this.#turns);
        }
        if (this.#ownership !== undefined) {
          this.#isDirty = false;
          await this.round();
          delayMs = this.#isBusy ? RETRY_MS : IDLE_MS;
        }
      } catch (thrown) {
        if (signal.aborted) break;
        logger.warn("restart state stores failed", { error: Fault.from(thrown) });
        await this.#reload();
      }
      await this.#sleep(delayMs);
    }
    await this.#ownership?.release().catch(() => undefined);
  }

  /** The stored turns may differ from those in memory after a failed write. */
  async #reload(): Promise<void> {
    if (this.#ownership === undefined) return;
    await this.#ownership.release().catch(() => undefined);
    this.#ownership = undefined;
  }

  /** Sleeps for the delay, or until something changes, then for the debounce time. */
  async #sleep(delayMs: number): Promise<void> {
    const { timers } = this.#options.ambient;
    const { signal } = this.#stop;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const waitMs = this.#isDirty && this.#ownership !== undefined ? 0 : delayMs;
    await sleep(timers, waitMs, AbortSignal.any([signal, woken.signal])).catch(() => undefined);
    this.#wake = undefined;
    await sleep(timers, DEBOUNCE_MS, signal).catch(() => undefined);
  }
}

const MISSING = "the unit is missing in the cluster";

/** A deployment that was created again under the same key has its own turns. */
function isOfEarlier(turn: StoredTurn | undefined, record: DeploymentRecord): boolean {
  return turn !== undefined && turn.record.owner !== ownerOf(record);
}

/** What keeps the nodes of a deployment from restarting now; freeze windows do not delay repairs. */
export function turnHold(
  { pauses, freezes }: Pick<RestartTurnsOptions, "pauses" | "freezes">,
  key: DeploymentKey,
  record: DeploymentRecord,
): TurnFacts["hold"] {
  const pause = pauses.of(key);
  if (pause !== undefined) return { text: `paused by ${pause.by} until ${pause.until}`, allowsRepair: false };
  const [freeze] = freezes.active(placementEntries(record).map(([cluster]) => cluster));
  if (freeze === undefined) return undefined;
  return { text: `frozen by window ${freeze.window} until ${freeze.until}`, allowsRepair: true };
}
