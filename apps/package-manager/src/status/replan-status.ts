import { omitUndefined } from "@oaas/contracts/rest";
import { timestamp } from "@oaas/foundation";
import {
  ReplanMode,
  ReplanReason,
  ReplanState,
  type ClusterName,
  type DeploymentKey,
  type ReplanStatus,
} from "@oaas/models";
import { budgetOf, type ReplanSettings } from "../records/automatic-changes.ts";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import { describesRevision, ownerOf, type ClusterOutage } from "../records/replan-record.ts";
import type { ReplanStore } from "../stores/replan-store.ts";

/** Reads the re-plan of deployments. */
export class ReplanStatusReader {
  readonly #replans: ReplanStore;
  readonly #settings: ReplanSettings;
  readonly #now: () => number;

  constructor(replans: ReplanStore, settings: ReplanSettings, now: () => number) {
    this.#replans = replans;
    this.#settings = settings;
    this.#now = now;
  }

  /** The re-plan of a deployment; undefined when there is none and none of `notServing` is lost. */
  async read(
    key: DeploymentKey,
    record: DeploymentRecord,
    notServing: ReadonlySet<ClusterName>,
  ): Promise<ReplanStatus | undefined> {
    const mode = record.deployment.replan ?? ReplanMode.propose;
    if (record.deletion !== undefined || record.desired === undefined) return undefined;
    const stored = (await this.#replans.replan(key))?.record;
    if (mode === ReplanMode.off && stored?.reason !== ReplanReason.drain) return undefined;
    if (stored === undefined || !describesRevision(stored, record.desired.revision)) {
      return this.#waiting(record, mode, notServing);
    }
    const { plan, code: _code, basis: _basis, drainAt: _drainAt, revision, ...rest } = stored;
    return omitUndefined({
      ...rest,
      mode,
      revision: stored.state === ReplanState.applied ? revision : undefined,
      planDigest: plan?.digest,
      budget: await this.#budget(ownerOf(record), mode),
    });
  }

  async #waiting(
    record: DeploymentRecord,
    mode: ReplanMode,
    notServing: ReadonlySet<ClusterName>,
  ): Promise<ReplanStatus | undefined> {
    const wanted = placementEntries(record).flatMap(([cluster, { state }]) =>
      state === "wanted" && notServing.has(cluster) ? [cluster] : [],
    );
    const outages = await Promise.all(
      wanted.map(async (cluster) => [cluster, await this.#replans.outage(cluster)] as const),
    );
    const lost = outages
      .filter((each): each is readonly [ClusterName, ClusterOutage] => each[1] !== undefined)
      .toSorted(([, a], [, b]) => (a.since < b.since ? -1 : 1));
    const [first] = lost;
    if (first === undefined) return undefined;
    const seconds = record.deployment.replanClusterLostSeconds;
    const allowedMs = seconds === undefined ? this.#settings.clusterLostMs : seconds * 1000;
    const [cluster, { since, problem }] = first;
    const dueAt = timestamp(Date.parse(since) + allowedMs);
    return {
      mode,
      state: ReplanState.waiting,
      reason: ReplanReason.clusterLost,
      message: `lost ${cluster}: ${problem}; a new plan is made when it is lost for ${allowedMs / 1000} s, at ${dueAt}`,
      since,
      lostClusters: lost.map(([name]) => name),
      changes: [],
      retryAt: dueAt,
    };
  }

  async #budget(owner: string, mode: ReplanMode): Promise<ReplanStatus["budget"]> {
    if (mode !== ReplanMode.auto) return undefined;
    const changes = (await this.#replans.automaticChanges())?.record ?? { changes: [] };
    return budgetOf(owner, changes, this.#settings, this.#now());
  }
}
