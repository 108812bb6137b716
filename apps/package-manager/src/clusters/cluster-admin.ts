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
import { conflictOf, combineTransactions, type Collection, type KeyValueStore, type Transaction } from "@oaas/storage";
import { retryOnConflict } from "../concurrency.ts";
import type { ClusterEntry, SecretFolder } from "../ports.ts";
import type { StoredCluster } from "../stores/cluster-store.ts";
import type { Call, ClusterAdmin, ClusterRegistration, Idempotent } from "../use-cases.ts";
import type { ClusterReferences } from "./cluster-references.ts";
import type { ClusterRoster } from "./cluster-roster.ts";
import { checkPriorDate, checkRegistration, hasSameAddress, resolveSecretFiles } from "./registration-rules.ts";

export interface ClusterAdminDeps {
  readonly roster: ClusterRoster;
  readonly stored: Collection<StoredCluster>;
  readonly store: KeyValueStore;
  readonly clock: Clock;
  readonly references: ClusterReferences;
  readonly cordons?: { stageRemoval(name: ClusterName): Promise<Transaction | undefined> };
  /** The files that a registration may use. */
  readonly files: SecretFolder;
  /** Whether tokens can be stored: the store is encrypted. */
  readonly canStoreTokens: boolean;
  readonly deployments: {
    /** Keys of the deployments that have, or may have left, a unit in a cluster. */
    keysIn(name: ClusterName): readonly string[];
    /** Gives up what is left to be removed in a cluster that does not answer; answers of how many. */
    abandonRemovals(name: ClusterName): Promise<number>;
    /** Resolves when that shows what was written up to a revision. */
    reached(revision: number, options?: { readonly signal?: AbortSignal }): Promise<void>;
  };
}

/** Adds and removes clusters at run time. */
export class StoredClusterAdmin implements ClusterAdmin {
  readonly #deps: ClusterAdminDeps;

  constructor(deps: ClusterAdminDeps) {
    this.#deps = deps;
  }

  async add(registration: ClusterRegistration, call: Call, { idempotency }: Idempotent = {}): Promise<ClusterEntry> {
    const { roster } = this.#deps;
    await roster.reached(idempotency?.committed?.revision ?? (await this.#write(registration, call, idempotency)));
    const entry = roster.entry(registration.name);
    if (entry === undefined) throw conflict("cluster", registration.name);
    return entry;
  }

  async #write(registration: ClusterRegistration, call: Call, idempotency: Idempotent["idempotency"]): Promise<number> {
    const { roster, stored, store, clock } = this.#deps;
    const cluster = this.#validate(registration);
    if (roster.isConfigured(cluster.name)) throw alreadyExists("cluster", cluster.name);
    const record: StoredCluster = {
      registration: cluster,
      addedBy: call.caller,
      addedAt: timestamp(clock.now()),
      ...(call.reason === undefined ? {} : { reason: call.reason }),
    };
    const create = stored.stageCreate(cluster.name, record);
    try {
      const { revision } = await store.commit(
        idempotency === undefined ? create : combineTransactions(create, idempotency.stage({})),
      );
      return revision;
    } catch (thrown) {
      const exists = (conflictOf(thrown)?.key ?? idempotency?.key) !== idempotency?.key;
      throw exists ? alreadyExists("cluster", cluster.name, { cause: thrown }) : thrown;
    }
  }

  async remove(name: ClusterName): Promise<void> {
    const { roster, stored, store, references, cordons, deployments } = this.#deps;
    if (roster.isConfigured(name)) {
      throw failedPrecondition(name, `cluster "${name}" is configured; remove it from the configuration and restart`);
    }
    const abandoned = await deployments.abandonRemovals(name);
    const removed = await retryOnConflict(async () => {
      const found = await stored.get(name);
      // A cluster that was removed from the configuration has no record, but may have had removals to abandon.
      if (found === undefined && abandoned > 0) return undefined;
      if (found === undefined) throw notFound("cluster", name);
      const removal = await references.stageRemoval(deployments);
      refuseIfUsed(name, deployments.keysIn(name).length);
      const cordon = await cordons?.stageRemoval(name);
      return store.commit(combineTransactions(stored.stageDelete(found), removal, ...(cordon ? [cordon] : [])));
    });
    if (removed !== undefined) await roster.reached(removed.revision);
  }

  /** The registration with resolved files; throws with all violations. */
  #validate(cluster: ClusterRegistration): ClusterRegistration {
    const name = CLUSTER_NAME.findProblem(cluster.name);
    const url = ENDPOINT_URL.findProblem(cluster.url);
    const resolved = resolveSecretFiles(cluster, this.#deps.files);
    const violations = [
      ...(name === undefined ? [] : [{ path: "$.name", ...name }]),
      ...(url === undefined
        ? [...checkRegistration(cluster), ...this.#sharedAddress(cluster)]
        : [{ path: "$.url", ...url }]),
      ...(resolved.ok ? [] : resolved.error),
      ...checkPriorDate(cluster, this.#deps.clock.now()),
      ...(cluster.token === undefined || this.#deps.canStoreTokens ? [] : [CLEAR_TOKEN]),
    ];
    if (!resolved.ok || violations.length > 0) throw invalidArgument("the cluster", violations);
    return resolved.value;
  }

  /** Two names for one class runtime manager would count it twice and deploy every unit twice. */
  #sharedAddress(cluster: ClusterRegistration): readonly Violation[] {
    const others = this.#deps.roster.entries().filter(({ name }) => name !== cluster.name);
    const twin = others.find((each) => hasSameAddress(each, cluster));
    if (twin === undefined) return [];
    return [
      {
        path: "$.url",
        message: `is already the address of cluster "${twin.name}"`,
        fix: "use a unique address for each cluster",
      },
    ];
  }
}

const CLEAR_TOKEN: Violation = {
  path: "$.api_key",
  message: "would be stored in clear, because STORAGE_ENCRYPTION_KEY is not set",
  fix: "set STORAGE_ENCRYPTION_KEY_FILE, or put the token into a file in CRM_SECRETS_DIR and send api_key_file",
};

function refuseIfUsed(name: ClusterName, count: number): void {
  if (count === 0) return;
  const units = count === 1 ? "1 deployment has a unit" : `${count} deployments have units`;
  throw failedPrecondition(name, `${units} in cluster "${name}"; move or delete them first`);
}
