import { equalJson, invalidArgument, type Ambient } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
import { CollectionView, type Collection } from "@oaas/storage";
import type { StoredCluster } from "../stores/cluster-store.ts";
import type { ClusterDirectory, ClusterEntry, Cordon } from "../ports.ts";
import type { ClusterRegistration } from "../use-cases.ts";

export interface ClusterRosterOptions {
  /** Configured clusters; they override stored clusters of the same name. */
  readonly configured: readonly ClusterRegistration[];
  /** Clusters that were added through the API. */
  readonly stored: Collection<StoredCluster>;
  readonly ambient: Ambient;
  readonly cordons?: { of(name: ClusterName): Cordon | undefined };
  readonly logger?: Logger;
}

/**
 * All registered clusters, from the configuration and from the store.
 *
 * *Guarantees*: follows changes of other processes on the same store; a registration stays the same object until it
 * changes, so that connections are kept.
 */
export class ClusterRoster {
  readonly #view: CollectionView<StoredCluster>;
  #configured: ReadonlySet<ClusterName>;
  readonly #logger: Logger;
  readonly #cordons: ClusterRosterOptions["cordons"];
  readonly #registrations = new Map<ClusterName, ClusterRegistration>();
  readonly #listeners = new Set<(name: ClusterName) => void>();

  constructor({ configured, stored, ambient, cordons, logger = NOOP_LOGGER }: ClusterRosterOptions) {
    this.#cordons = cordons;
    this.#configured = new Set(configured.map(({ name }) => name));
    this.#logger = logger;
    for (const registration of configured) this.#registrations.set(registration.name, registration);
    this.#view = new CollectionView(stored, {
      ambient,
      onChange: (ids) => ids.forEach((id) => this.#refresh(id as ClusterName)),
    });
  }

  /** Loads the stored clusters, then follows changes. */
  async start(): Promise<void> {
    await this.#view.start();
    for (const { id, fault } of this.#view.unreadable) {
      this.#logger.error("skip unreadable stored cluster", { cluster: id, fault });
    }
  }

  /** Replaces the configured clusters. A stored cluster whose configured namesake is removed is in use again. */
  setConfigured(configured: readonly ClusterRegistration[]): void {
    const before = this.#configured;
    this.#configured = new Set(configured.map(({ name }) => name));
    for (const name of before) if (!this.#configured.has(name)) this.#refresh(name);
    for (const registration of configured) this.#replace(registration.name, registration);
  }

  registration(name: ClusterName): ClusterRegistration | undefined {
    return this.#registrations.get(name);
  }

  isConfigured(name: ClusterName): boolean {
    return this.#configured.has(name);
  }

  /** All clusters by name. */
  entries(): readonly ClusterEntry[] {
    return [...this.#registrations.keys()]
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map((name) => this.entry(name) as ClusterEntry);
  }

  entry(name: ClusterName): ClusterEntry | undefined {
    const registration = this.#registrations.get(name);
    if (registration === undefined) return undefined;
    const { url, labels, timeoutSeconds, retryAttempts, availability, cost, defaultNamespace, allowedNamespaces } =
      registration;
    const cordon = this.#cordons?.of(name);
    return {
      name,
      url,
      labels,
      retryAttempts,
      tls: url.toLowerCase().startsWith("https:"),
      origin: this.#configured.has(name) ? "configuration" : "api",
      ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 }),
      ...(cordon === undefined ? {} : { cordon }),
      ...(availability === undefined ? {} : { availability }),
      ...(cost === undefined ? {} : { cost }),
      ...(defaultNamespace === undefined ? {} : { defaultNamespace }),
      ...(allowedNamespaces === undefined || allowedNamespaces.length === 0 ? {} : { allowedNamespaces }),
    };
  }

  /** Clusters whose token is stored in clear. */
  get clearTokens(): readonly ClusterName[] {
    return [...this.#view.all()].filter(({ source }) => source.hasClearSecret).map(({ id }) => id as ClusterName);
  }

  /** Calls the listener when a cluster is added, changed or removed. Returns the function that unsubscribes it. */
  onChange(listener: (name: ClusterName) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the roster includes a revision of the store. */
  reached(revision: number, options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#view.waitForRevision(revision, options);
  }

  close(): Promise<void> {
    return this.#view.close();
  }

  #refresh(name: ClusterName): void {
    if (this.#configured.has(name)) {
      this.#logger.warn("ignore stored cluster with the name of a configured one", { cluster: name });
      return;
    }
    const unreadable = this.#view.unreadable.find(({ id }) => id === name);
    if (unreadable !== undefined) {
      this.#logger.error("keep cluster whose new record is unreadable", { cluster: name, fault: unreadable.fault });
      return;
    }
    this.#replace(name, this.#view.get(name)?.record.registration);
  }

  #replace(name: ClusterName, registration: ClusterRegistration | undefined): void {
    if (equalJson(registration, this.#registrations.get(name))) return;
    if (registration === undefined) this.#registrations.delete(name);
    else this.#registrations.set(name, registration);
    for (const listener of this.#listeners) listener(name);
  }
}

/** Throws invalid-argument for a query about a cluster that is not registered. */
export function assertKnownCluster(clusters: Pick<ClusterDirectory, "get" | "list">, cluster: ClusterName): void {
  if (clusters.get(cluster) !== undefined) return;
  const known = clusters.list().map(({ name }) => name);
  const fix = known.length === 0 ? "register the cluster" : `use ${known.join(", ")}, or register the cluster`;
  throw invalidArgument("the query", [{ path: "$.cluster", message: `cluster "${cluster}" is not registered`, fix }]);
}
