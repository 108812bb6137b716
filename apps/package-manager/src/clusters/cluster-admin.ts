import {
  alreadyExists,
  conflict,
  failedPrecondition,
  invalidArgument,
  isFault,
  notFound,
  timestamp,
  type Clock,
} from "@oaas/foundation";
import { CLUSTER_NAME, ENDPOINT_URL, type ClusterName } from "@oaas/models";
import type { Collection } from "@oaas/storage";
import type { StoredCluster } from "../adapters/store/cluster-store.ts";
import type { ClusterEntry } from "../ports.ts";
import type { Call, ClusterAdmin, ClusterRegistration } from "../use-cases.ts";
import type { ClusterRoster } from "./cluster-roster.ts";
import { checkRegistration } from "./registration-rules.ts";

export interface ClusterAdminDeps {
  readonly roster: ClusterRoster;
  readonly stored: Collection<StoredCluster>;
  readonly clock: Clock;
  /** How many deployments have, or may have left, a unit in a cluster. */
  readonly countInCluster: (name: ClusterName) => Promise<number>;
}

/** Adds and removes clusters while PM runs; see `ClusterAdmin`. */
export class StoredClusterAdmin implements ClusterAdmin {
  readonly #deps: ClusterAdminDeps;

  constructor(deps: ClusterAdminDeps) {
    this.#deps = deps;
  }

  async add(cluster: ClusterRegistration, call: Call): Promise<ClusterEntry> {
    const { roster, stored, clock } = this.#deps;
    refuseInvalid(cluster);
    if (roster.isConfigured(cluster.name)) throw alreadyExists("cluster", cluster.name);
    const record: StoredCluster = {
      registration: cluster,
      addedBy: call.caller,
      addedAt: timestamp(clock.now()),
      ...(call.reason === undefined ? {} : { reason: call.reason }),
    };
    try {
      const { revision } = await stored.create(cluster.name, record);
      await roster.reached(revision);
    } catch (thrown) {
      if (isFault(thrown, "already-exists")) throw alreadyExists("cluster", cluster.name, { cause: thrown });
      throw thrown;
    }
    const entry = roster.entry(cluster.name);
    if (entry === undefined) throw conflict("cluster", cluster.name);
    return entry;
  }

  async remove(name: ClusterName): Promise<void> {
    const { roster, stored, countInCluster } = this.#deps;
    if (roster.isConfigured(name)) {
      throw failedPrecondition(name, `cluster "${name}" is named by the configuration; take it out there and restart`);
    }
    const found = await stored.get(name);
    if (found === undefined) throw notFound("cluster", name);
    const count = await countInCluster(name);
    if (count > 0) {
      const units = count === 1 ? "1 deployment has a unit" : `${count} deployments have units`;
      throw failedPrecondition(name, `${units} in cluster "${name}"; move or delete them first`);
    }
    await stored.delete(found);
  }
}

function refuseInvalid(cluster: ClusterRegistration): void {
  const name = CLUSTER_NAME.objectionTo(cluster.name);
  const url = ENDPOINT_URL.objectionTo(cluster.url);
  const violations = [
    ...(name === undefined ? [] : [{ path: "$.name", ...name }]),
    ...(url === undefined ? checkRegistration(cluster) : [{ path: "$.url", ...url }]),
  ];
  if (violations.length > 0) throw invalidArgument("the cluster", violations);
}
