import type { ClusterName, DeploymentKey } from "@oaas/models";
import type { HealthReading } from "../ports.ts";
import { isOpen } from "../saga-engine/saga.ts";
import { repairSaga } from "../sagas/saga-plans.ts";
import type { DeploymentContext } from "../deployments/context.ts";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import { isPermanent } from "../records/deployment-outcome.ts";
import type { Finding } from "./repairs.ts";
import { subjectOf } from "../records/deployment-saga.ts";

export interface PendingWorkOptions {
  readonly context: DeploymentContext;
  /** Asks a cluster now, and often from then on until it answers. */
  readonly check: (cluster: ClusterName) => Promise<HealthReading>;
  /** There is something to do for the deployment. */
  readonly onDue: (key: DeploymentKey) => void;
}

const NOTHING: ReadonlySet<ClusterName> = new Set();
const NO_REPORTS = new Map<never, never>();

/**
 * Work that only the absence of its cluster put off: units to be removed, or to be sent.
 *
 * *Guarantees*: it is due as soon as the cluster is known to answer, also when that was while a saga of the deployment was under way; where the
 * cluster answers and the work fails all the same, it is due once more, and then left to the next look at everything.
 */
export class PendingWork {
  readonly #options: PendingWorkOptions;
  /** Clusters that answer again, and for which nothing was done yet. */
  readonly #returned = new Set<ClusterName>();
  /** Clusters that answer again, by deployments that had a saga under way. */
  readonly #owed = new Map<DeploymentKey, Set<ClusterName>>();
  /** What was tried again since the last look at everything, as `cluster/key`. */
  readonly #tried = new Set<string>();

  constructor(options: PendingWorkOptions) {
    this.#options = options;
  }

  get isDue(): boolean {
    return this.#returned.size > 0;
  }

  /** A cluster answers again. */
  cameBack(cluster: ClusterName): void {
    this.#returned.add(cluster);
    for (const name of this.#tried) if (name.startsWith(`${cluster}/`)) this.#tried.delete(name);
  }

  /** What is to be done now for clusters that are back. Tells each of them once. */
  take(): readonly Finding[] {
    if (this.#returned.size === 0) return [];
    const { context } = this.#options;
    const returned = new Set(this.#returned);
    this.#returned.clear();
    const findings: Finding[] = [];
    for (const seen of context.view.all()) {
      const key = seen.id as DeploymentKey;
      const there = placementEntries(seen.record).flatMap(([cluster]) => (returned.has(cluster) ? [cluster] : []));
      if (there.length === 0) continue;
      const saga = context.engine.peek(subjectOf(key));
      if (saga !== undefined && isOpen(saga)) for (const cluster of there) this.#owe(key, cluster);
      else findings.push({ seen, reports: NO_REPORTS, away: clustersExcept(new Set(there), seen.record) });
    }
    return findings;
  }

  /** A saga ended: the clusters that are back since it began. Without any, those that it could not reach are asked how they are. */
  afterSaga(key: DeploymentKey, record: DeploymentRecord): ReadonlySet<ClusterName> {
    const owed = this.#owed.get(key);
    this.#owed.delete(key);
    if (owed !== undefined) return owed;
    for (const [cluster, { fault }] of placementEntries(record)) {
      const name = `${cluster}/${key}`;
      if (fault === undefined || isPermanent(fault) || this.#tried.has(name)) continue;
      this.#tried.add(name);
      void this.#options.check(cluster).then(({ error }) => {
        if (error !== undefined) return;
        this.#owe(key, cluster);
        this.#options.onDue(key);
      });
    }
    return NOTHING;
  }

  /** Everything is about to be looked at: clusters that are away are asked often if something waits for them. */
  looking(away: readonly ClusterName[]): void {
    const { context, check } = this.#options;
    this.#tried.clear();
    for (const cluster of away) {
      for (const { record } of context.view.all()) {
        if (record.placements[cluster] === undefined || !waitsFor(context, record, cluster)) continue;
        void check(cluster);
        break;
      }
    }
  }

  /** Another process sees to it. */
  clear(): void {
    this.#returned.clear();
    this.#owed.clear();
    this.#tried.clear();
  }

  #owe(key: DeploymentKey, cluster: ClusterName): void {
    this.#owed.set(key, (this.#owed.get(key) ?? new Set<ClusterName>()).add(cluster));
  }
}

function waitsFor({ policy }: DeploymentContext, record: DeploymentRecord, cluster: ClusterName): boolean {
  const asked = { by: "", correlationId: "" };
  return repairSaga(record, clustersExcept(new Set([cluster]), record), policy, asked) !== undefined;
}

/** Clusters of a deployment but for these: they are left alone. */
export function clustersExcept(
  heard: { has(cluster: ClusterName): boolean },
  record: DeploymentRecord,
): ReadonlySet<string> {
  return new Set((Object.keys(record.placements) as ClusterName[]).filter((name) => !heard.has(name)));
}
