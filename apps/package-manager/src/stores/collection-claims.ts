import { qualifyClassKey, type ClusterName, type DeploymentKey } from "@oaas/models";
import {
  Collection,
  combineTransactions,
  type CollectionDefinition,
  type CollectionView,
  type KeyValueStore,
  type Transaction,
} from "@oaas/storage";
import type { NetworkKey } from "../planner/placement/networks.ts";
import type { DeploymentPlan, UsedCollection } from "../planner/plan-types.ts";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import type { DeploymentStore } from "./deployment-store.ts";

/** The deployment that uses a collection in a data plane network. */
interface CollectionClaim {
  readonly deployment: DeploymentKey;
}

/** By `claimId`. */
const CLAIMS = {
  name: "collection-claims",
  codec: { version: 1, decode: claimRecord },
} satisfies CollectionDefinition<CollectionClaim>;

function claimRecord(json: unknown): CollectionClaim {
  const record = json as Partial<CollectionClaim> | null;
  if (typeof record?.deployment !== "string") throw new TypeError("not a claim of a collection");
  return record as CollectionClaim;
}

interface CollectionClaimsDeps {
  readonly store: KeyValueStore;
  readonly deployments: Pick<DeploymentStore, "get">;
  readonly view: Pick<CollectionView<DeploymentRecord>, "all">;
}

/** The data plane network of each cluster. */
export type Networks = (cluster: ClusterName) => NetworkKey;

/** The claims that a plan needs. */
export interface StagedClaims {
  /** Ids of all claims of the deployment after the commit. */
  readonly ids: readonly string[];
  /** Ids of the claims that this transaction creates. */
  readonly created: readonly string[];
  readonly transaction: Transaction;
  /** Collections of the plan that another deployment has claimed since its inputs were read. */
  readonly taken: readonly UsedCollection[];
}

/**
 * Which deployment uses a collection in a data plane network. Objects have the name of their collection as the only
 * namespace there: two deployments with one collection would read and replace the objects of each other.
 *
 * *Guarantees*: a claim is committed with the revision that needs it, and a collection of a network has one claim, so that
 * of two deployments that are created at once only one gets it, also in several processes.
 */
export class CollectionClaims {
  readonly #deps: CollectionClaimsDeps;
  readonly #claims: Collection<CollectionClaim>;

  constructor(deps: CollectionClaimsDeps) {
    this.#deps = deps;
    this.#claims = new Collection(deps.store, CLAIMS);
  }

  /** Collections of other deployments, of those that a deployment may use: from the view in memory, also without a claim. */
  usedCollections(deployment: DeploymentRecord["deployment"]): readonly UsedCollection[] {
    const name = qualifyClassKey(deployment.packageName, deployment.classKey);
    const stated = deployment.odgm?.collections ?? [];
    const names = new Set<string>(stated.length > 0 ? stated : [name, `${name}.${deployment.key}`]);
    return [...this.#deps.view.all()].flatMap(({ record }) =>
      record.deployment.key === deployment.key ? [] : usedIn(record).filter(({ collection }) => names.has(collection)),
    );
  }

  /** Stages the claims of a plan, and drops those of the plan before that it does not need. */
  async stage(
    key: DeploymentKey,
    { odgm }: DeploymentPlan,
    {
      current,
      previous,
      networks,
    }: {
      readonly current: DeploymentRecord | undefined;
      readonly previous: DeploymentPlan | undefined;
      readonly networks: Networks;
    },
  ): Promise<StagedClaims> {
    const clusters = Object.keys(odgm?.nodeIds ?? {}) as ClusterName[];
    const keys = [...new Set(clusters.map(networks))];
    const running = new Set(previous?.odgm?.collections);
    const needed = (odgm?.collections ?? []).flatMap((collection) =>
      keys.map((network) => ({ collection, network, id: claimId(network, collection) })),
    );
    const ids: string[] = [];
    const created: string[] = [];
    const parts: Transaction[] = [];
    const taken: UsedCollection[] = [];
    for (const { collection, network, id } of needed) {
      const stored = await this.#claims.get(id);
      const owner = stored?.record.deployment;
      if (stored === undefined || owner === undefined) {
        parts.push(this.#claims.stageCreate(id, { deployment: key }));
        created.push(id);
      } else if (owner !== key) {
        if (await this.#isInUse(owner, { collection, network, networks })) {
          // Two deployments of an earlier release that share objects already are not broken.
          if (!running.has(collection)) taken.push({ collection, deployment: owner, clusters });
          continue;
        }
        parts.push(this.#claims.stageUpdate(stored, { deployment: key }));
        created.push(id);
      }
      ids.push(id);
    }
    const dropped = (current?.claims ?? []).filter((id) => !ids.includes(id));
    return { ids, created, taken, transaction: combineTransactions(...parts, ...(await this.stageFree(key, dropped))) };
  }

  /** Drops claims of a deployment. */
  async stageFree(key: DeploymentKey, ids: readonly string[]): Promise<readonly Transaction[]> {
    const claims = await Promise.all(ids.map((id) => this.#claims.get(id)));
    return claims.flatMap((stored) => (stored?.record.deployment === key ? [this.#claims.stageDelete(stored)] : []));
  }

  /** Whether the owner of a claim still uses it; not after a restore of an older backup, or when a network was renamed. */
  async #isInUse(
    owner: DeploymentKey,
    {
      collection,
      network,
      networks,
    }: {
      readonly collection: string;
      readonly network: NetworkKey;
      readonly networks: Networks;
    },
  ): Promise<boolean> {
    const record = (await this.#deps.deployments.get(owner))?.record;
    return (
      record !== undefined &&
      usedIn(record).some((used) => used.collection === collection && used.clusters.map(networks).includes(network))
    );
  }
}

/** The id of a claim. */
function claimId(network: NetworkKey, collection: string): string {
  return `${encodeURIComponent(network)}/${collection}`;
}

/** The collections of a deployment. Records of earlier releases do not have them: what the deployment states, or its class. */
function usedIn(record: DeploymentRecord): readonly UsedCollection[] {
  const { deployment, collections } = record;
  const clusters = placementEntries(record).map(([cluster]) => cluster);
  const stated = deployment.odgm?.collections ?? [];
  const assumed = stated.length > 0 ? stated : [qualifyClassKey(deployment.packageName, deployment.classKey)];
  return (collections ?? assumed).map((collection) => ({ collection, deployment: deployment.key, clusters }));
}
