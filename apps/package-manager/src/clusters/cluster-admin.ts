import {
  alreadyExists,
  conflict,
  failedPrecondition,
  invalidArgument,
  notFound,
  timestamp,
  type Clock,
  type Violation,
} from "@oaas/foundation";
import { CLUSTER_NAME, ENDPOINT_URL, type ClusterName } from "@oaas/models";
import { conflictOf, together, type Collection, type KeyValueStore } from "@oaas/storage";
import type { SecretFolder } from "../ports.ts";
import type { StoredCluster } from "../stores/cluster-store.ts";
import { retryOnConflict } from "../concurrency.ts";
import type { ClusterEntry } from "../ports.ts";
import type { Call, ClusterAdmin, ClusterRegistration, Repeatable } from "../use-cases.ts";
import type { ClusterRoster } from "./cluster-roster.ts";
import type { ClusterReferences } from "./cluster-references.ts";
import { resolveSecretFiles } from "./registration-files.ts";
import { checkRegistration, hasSameAddress } from "./registration-rules.ts";

export interface ClusterAdminDeps {
  readonly roster: ClusterRoster;
  readonly stored: Collection<StoredCluster>;
  readonly store: KeyValueStore;
  readonly clock: Clock;
  readonly references: ClusterReferences;
  /** Which files of this machine a registration may name. */
  readonly files: SecretFolder;
  readonly deployments: {
    /** Keys of those that have, or may have left, a unit in a cluster. */
    keysIn(name: ClusterName): readonly string[];
    /** Gives up what is left to be removed in a cluster that does not answer; answers of how many. */
    abandonRemovals(name: ClusterName): Promise<number>;
    /** Resolves when that shows what was written up to a revision. */
    reached(revision: number, options?: { readonly signal?: AbortSignal }): Promise<void>;
  };
}

/** Adds and removes clusters while PM runs; see `ClusterAdmin`. */
export class StoredClusterAdmin implements ClusterAdmin {
  readonly #deps: ClusterAdminDeps;

  constructor(deps: ClusterAdminDeps) {
    this.#deps = deps;
  }

  async add(given: ClusterRegistration, call: Call, { once }: Repeatable = {}): Promise<ClusterEntry> {
    const { roster } = this.#deps;
    await roster.reached(once?.done?.revision ?? (await this.#write(given, call, once)));
    const entry = roster.entry(given.name);
    if (entry === undefined) throw conflict("cluster", given.name);
    return entry;
  }

  async #write(given: ClusterRegistration, call: Call, once: Repeatable["once"]): Promise<number> {
    const { roster, stored, store, clock } = this.#deps;
    const cluster = this.#checked(given);
    if (roster.isConfigured(cluster.name)) throw alreadyExists("cluster", cluster.name);
    const record: StoredCluster = {
      registration: cluster,
      addedBy: call.caller,
      addedAt: timestamp(clock.now()),
      ...(call.reason === undefined ? {} : { reason: call.reason }),
    };
    const create = stored.stageCreate(cluster.name, record);
    try {
      const { revision } = await store.commit(once === undefined ? create : together(create, once.mark({})));
      return revision;
    } catch (thrown) {
      const isThere = (conflictOf(thrown)?.key ?? once?.key) !== once?.key;
      throw isThere ? alreadyExists("cluster", cluster.name, { cause: thrown }) : thrown;
    }
  }

  async remove(name: ClusterName): Promise<void> {
    const { roster, stored, store, references: ties, deployments } = this.#deps;
    if (roster.isConfigured(name)) {
      throw failedPrecondition(name, `cluster "${name}" is named by the configuration; take it out there and restart`);
    }
    const given = await deployments.abandonRemovals(name);
    const removed = await retryOnConflict(async () => {
      const found = await stored.get(name);
      // One that was taken out of the configuration may have left something to give up.
      if (found === undefined && given > 0) return undefined;
      if (found === undefined) throw notFound("cluster", name);
      const removal = await ties.stageRemoval(deployments);
      refuseUsed(name, deployments.keysIn(name).length);
      return store.commit(together(stored.stageDelete(found), removal));
    });
    if (removed !== undefined) await roster.reached(removed.revision);
  }

  /** The registration with the files it names, found; or everything that is wrong with it. */
  #checked(cluster: ClusterRegistration): ClusterRegistration {
    const name = CLUSTER_NAME.objectionTo(cluster.name);
    const url = ENDPOINT_URL.objectionTo(cluster.url);
    const found = resolveSecretFiles(cluster, this.#deps.files);
    const violations = [
      ...(name === undefined ? [] : [{ path: "$.name", ...name }]),
      ...(url === undefined ? [...checkRegistration(cluster), ...this.#twins(cluster)] : [{ path: "$.url", ...url }]),
      ...(found.ok ? [] : found.error),
    ];
    if (!found.ok || violations.length > 0) throw invalidArgument("the cluster", violations);
    return found.value;
  }

  /** One class runtime manager under two names would count twice, and have every unit twice. */
  #twins(cluster: ClusterRegistration): readonly Violation[] {
    const others = this.#deps.roster.entries().filter(({ name }) => name !== cluster.name);
    const twin = others.find((each) => hasSameAddress(each, cluster));
    if (twin === undefined) return [];
    return [
      {
        path: "$.url",
        message: `is the address of cluster "${twin.name}"`,
        fix: "give each cluster an address of its own",
      },
    ];
  }
}

function refuseUsed(name: ClusterName, count: number): void {
  if (count === 0) return;
  const units = count === 1 ? "1 deployment has a unit" : `${count} deployments have units`;
  throw failedPrecondition(name, `${units} in cluster "${name}"; move or delete them first`);
}
