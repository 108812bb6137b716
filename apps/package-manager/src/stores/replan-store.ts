import type { ClusterName, DeploymentKey } from "@oaas/models";
import {
  Collection,
  MAX_PAGE,
  type CollectionDefinition,
  type KeyValueStore,
  type Stored,
  type Transaction,
} from "@oaas/storage";
import type { AutomaticChanges, ClusterOutage, ReplanRecord } from "../records/replan-record.ts";

/** By deployment key. */
export const REPLANS = {
  name: "replans",
  codec: { version: 1, decode: replanRecord },
} satisfies CollectionDefinition<ReplanRecord>;

/** By cluster name. */
const OUTAGES = {
  name: "cluster-outages",
  codec: { version: 1, decode: outageRecord },
} satisfies CollectionDefinition<ClusterOutage>;

const CHANGES = {
  name: "automatic-changes",
  codec: { version: 1, decode: changesRecord },
} satisfies CollectionDefinition<AutomaticChanges>;

/** The id of the only record of `CHANGES`: all deployments share one budget. */
const ALL = "all";

/** Re-plans of deployments, outages of clusters, and the automatic changes that count against the budget. */
export class ReplanStore {
  readonly replans: Collection<ReplanRecord>;
  readonly #outages: Collection<ClusterOutage>;
  readonly #changes: Collection<AutomaticChanges>;

  constructor(store: KeyValueStore) {
    this.replans = new Collection(store, REPLANS);
    this.#outages = new Collection(store, OUTAGES);
    this.#changes = new Collection(store, CHANGES);
  }

  replan(key: DeploymentKey): Promise<Stored<ReplanRecord> | undefined> {
    return this.replans.get(key);
  }

  stageReplan(key: DeploymentKey, current: Stored<ReplanRecord> | undefined, record: ReplanRecord): Transaction {
    return current === undefined ? this.replans.stageCreate(key, record) : this.replans.stageUpdate(current, record);
  }

  async outage(cluster: ClusterName): Promise<ClusterOutage | undefined> {
    return (await this.#outages.get(cluster))?.record;
  }

  async outages(): Promise<ReadonlyMap<ClusterName, ClusterOutage>> {
    const { records } = await this.#outages.list({ limit: MAX_PAGE });
    return new Map(records.map(({ id, record }) => [id as ClusterName, record]));
  }

  stageOutage(cluster: ClusterName, outage: ClusterOutage): Transaction {
    return this.#outages.stageCreate(cluster, outage);
  }

  stageOutageEnd(cluster: ClusterName): Transaction {
    return this.#outages.stageDeleteUnread(cluster);
  }

  automaticChanges(): Promise<Stored<AutomaticChanges> | undefined> {
    return this.#changes.get(ALL);
  }

  stageAutomaticChanges(current: Stored<AutomaticChanges> | undefined, record: AutomaticChanges): Transaction {
    return current === undefined ? this.#changes.stageCreate(ALL, record) : this.#changes.stageUpdate(current, record);
  }
}

function replanRecord(json: unknown): ReplanRecord {
  const record = json as Partial<ReplanRecord> | null;
  if (typeof record?.state !== "string" || typeof record.basis !== "number" || !Array.isArray(record.changes)) {
    throw new TypeError("not a re-plan record");
  }
  return record as ReplanRecord;
}

function outageRecord(json: unknown): ClusterOutage {
  const record = json as Partial<ClusterOutage> | null;
  if (typeof record?.since !== "string") throw new TypeError("not an outage record");
  return record as ClusterOutage;
}

function changesRecord(json: unknown): AutomaticChanges {
  const record = json as Partial<AutomaticChanges> | null;
  if (!Array.isArray(record?.changes)) throw new TypeError("not a record of automatic changes");
  return record as AutomaticChanges;
}
