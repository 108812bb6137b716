import type { DeploymentKey, DeploymentPause, RevisionOutcome } from "@oaas/models";
import {
  Collection,
  type CollectionDefinition,
  type KeyValueStore,
  type Stored,
  type Transaction,
} from "@oaas/storage";
import { revisionId, type DeploymentRecord, type RevisionRecord } from "../records/deployment-record.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { ReplanRecord } from "../records/replan-record.ts";
import type { RestartTurnRecord } from "../records/restart-turn.ts";
import { EndedDeployments } from "./ended-deployments.ts";
import { PAUSES } from "./pause-store.ts";
import { REPLANS } from "./replan-store.ts";
import { openTurns } from "./turn-store.ts";

/** The view keeps every deployment decoded; sharing those objects makes single reads cheap. */
const REMEMBERED = 65_536;

/** By key. The package index is used where a lagging view would be wrong: before a package is removed. */
const DEPLOYMENTS = {
  name: "deployments",
  codec: { version: 1, decode: deploymentRecord },
  indexes: { package: ({ deployment }: DeploymentRecord) => deployment.packageName },
  cacheSize: REMEMBERED,
} satisfies CollectionDefinition<DeploymentRecord>;

const REVISIONS = {
  name: "deployment-revisions",
  codec: { version: 2, decode: revisionRecord, upgrades: { 1: renameOutcome } },
} satisfies CollectionDefinition<RevisionRecord>;

const PLANS = {
  name: "deployment-plans",
  codec: { version: 1, decode: planRecord },
} satisfies CollectionDefinition<DeploymentPlan>;

export type StoredDeployment = Stored<DeploymentRecord>;

/** Deployments with their history and plans, and the last unit revisions of ended deployments. */
export class DeploymentStore {
  readonly ended: EndedDeployments;
  readonly deployments: Collection<DeploymentRecord, (typeof DEPLOYMENTS)["indexes"]>;
  readonly #revisions: Collection<RevisionRecord>;
  readonly #plans: Collection<DeploymentPlan>;
  readonly #replans: Collection<ReplanRecord>;
  readonly #pauses: Collection<DeploymentPause>;
  readonly #turns: Collection<RestartTurnRecord>;

  constructor(store: KeyValueStore) {
    this.ended = new EndedDeployments(store);
    this.deployments = new Collection(store, DEPLOYMENTS);
    this.#revisions = new Collection(store, REVISIONS);
    this.#plans = new Collection(store, PLANS);
    this.#replans = new Collection(store, REPLANS);
    this.#pauses = new Collection(store, PAUSES);
    this.#turns = openTurns(store);
  }

  get(key: DeploymentKey): Promise<StoredDeployment | undefined> {
    return this.deployments.get(key);
  }

  revision(key: DeploymentKey, revision: number): Promise<Stored<RevisionRecord> | undefined> {
    return this.#revisions.get(revisionId(key, revision));
  }

  async plan(key: DeploymentKey, revision: number): Promise<DeploymentPlan | undefined> {
    return (await this.#plans.get(revisionId(key, revision)))?.record;
  }

  /** Keys of all deployments of a package, read from the store. */
  async keysOf(packageName: string): Promise<readonly DeploymentKey[]> {
    const keys: DeploymentKey[] = [];
    let after: string | undefined;
    do {
      const page = await this.deployments.listBy("package", packageName, after === undefined ? {} : { after });
      keys.push(...page.records.map(({ id }) => id as DeploymentKey));
      after = page.next;
    } while (after !== undefined);
    return keys;
  }

  stagePut(key: DeploymentKey, current: StoredDeployment | undefined, record: DeploymentRecord): Transaction {
    return current === undefined
      ? this.deployments.stageCreate(key, record)
      : this.deployments.stageUpdate(current, record);
  }

  /** A new history entry with its plan. */
  stageRevision(key: DeploymentKey, entry: RevisionRecord, plan: DeploymentPlan): readonly Transaction[] {
    const id = revisionId(key, entry.revision);
    return [this.#revisions.stageCreate(id, entry), this.#plans.stageCreate(id, plan)];
  }

  stageOutcome(entry: Stored<RevisionRecord>, record: RevisionRecord): Transaction {
    return this.#revisions.stageUpdate(entry, record);
  }

  stageForgetRevision(key: DeploymentKey, revision: number): readonly Transaction[] {
    const id = revisionId(key, revision);
    return [this.#revisions.stageDeleteUnread(id), this.#plans.stageDeleteUnread(id)];
  }

  /** Deletes the deployment and its history; the last revision of its units is kept. */
  stageForget(current: StoredDeployment): readonly Transaction[] {
    const under = `${current.id}/`;
    return [
      this.deployments.stageDelete(current),
      this.#revisions.stageDeletePrefix(under),
      this.#plans.stageDeletePrefix(under),
      this.#replans.stageDeleteUnread(current.id),
      this.#pauses.stageDeleteUnread(current.id),
      this.#turns.stageDeleteUnread(current.id),
      this.ended.stage(current.id, current.record.unitRevision),
    ];
  }
}

function deploymentRecord(json: unknown): DeploymentRecord {
  const record = json as Partial<DeploymentRecord> | null;
  if (typeof record?.deployment?.key !== "string" || typeof record.revision !== "number" || !record.placements) {
    throw new TypeError("not a deployment record");
  }
  return record as DeploymentRecord;
}

/** Version 1 called a revision succeeded when its clusters had accepted it, and running before that. */
const OUTCOMES_OF_VERSION_1: Readonly<Record<string, RevisionOutcome>> = {
  running: "accepted",
  succeeded: "accepted",
  compensated: "rolled-back",
};

function renameOutcome(json: unknown): unknown {
  const record = json as Partial<RevisionRecord> | null;
  return { ...record, outcome: OUTCOMES_OF_VERSION_1[record?.outcome ?? ""] ?? record?.outcome };
}

function revisionRecord(json: unknown): RevisionRecord {
  const record = json as Partial<RevisionRecord> | null;
  if (typeof record?.deployment?.key !== "string" || typeof record.revision !== "number" || !record.outcome) {
    throw new TypeError("not a deployment revision");
  }
  return record as RevisionRecord;
}

function planRecord(json: unknown): DeploymentPlan {
  const record = json as Partial<DeploymentPlan> | null;
  if (typeof record?.digest !== "string" || !Array.isArray(record.units)) throw new TypeError("not a plan");
  return record as DeploymentPlan;
}
