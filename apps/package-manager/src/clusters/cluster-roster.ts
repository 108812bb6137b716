import { equalJson, type Ambient } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
import { CollectionView, type Collection } from "@oaas/storage";
import type { StoredCluster } from "../stores/cluster-store.ts";
import type { ClusterEntry } from "../ports.ts";
import type { ClusterRegistration } from "../use-cases.ts";

export interface ClusterRosterOptions {
  /** Those of the configuration; they win over stored ones of the same name. */
  readonly configured: readonly ClusterRegistration[];
  /** Those that were added while PM ran. */
  readonly stored: Collection<StoredCluster>;
  readonly ambient: Ambient;
  readonly logger?: Logger;
}

/**
 * Every cluster PM knows, from the configuration and from the store.
 *
 * *Guarantees*: what another PM on the same store adds or removes shows here as soon as the store tells it; a registration stays the same
 * object while nothing in it changed, so that connections stay as well.
 */
export class ClusterRoster {
  readonly #view: CollectionView<StoredCluster>;
  readonly #configured: ReadonlySet<ClusterName>;
  readonly #logger: Logger;
  readonly #registrations = new Map<ClusterName, ClusterRegistration>();
  readonly #listeners = new Set<(name: ClusterName) => void>();

  constructor({ configured, stored, ambient, logger = NOOP_LOGGER }: ClusterRosterOptions) {
    this.#configured = new Set(configured.map(({ name }) => name));
    this.#logger = logger;
    for (const registration of configured) this.#registrations.set(registration.name, registration);
    this.#view = new CollectionView(stored, {
      ambient,
      onChange: (ids) => ids.forEach((id) => this.#take(id as ClusterName)),
    });
  }

  /** Loads what is stored, then follows it. */
  async start(): Promise<void> {
    await this.#view.start();
    for (const { id, fault } of this.#view.unreadable) {
      this.#logger.error("a stored cluster cannot be read and is left out", { cluster: id, fault });
    }
  }

  registration(name: ClusterName): ClusterRegistration | undefined {
    return this.#registrations.get(name);
  }

  isConfigured(name: ClusterName): boolean {
    return this.#configured.has(name);
  }

  /** By name. */
  entries(): readonly ClusterEntry[] {
    return [...this.#registrations.keys()]
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map((name) => this.entry(name) as ClusterEntry);
  }

  entry(name: ClusterName): ClusterEntry | undefined {
    const registration = this.#registrations.get(name);
    if (registration === undefined) return undefined;
    const { url, labels, timeoutSeconds, retryAttempts } = registration;
    return {
      name,
      url,
      labels,
      retryAttempts,
      tls: url.toLowerCase().startsWith("https:"),
      origin: this.#configured.has(name) ? "configuration" : "api",
      ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 }),
    };
  }

  /** Told when a cluster was added, changed or removed. The answer ends that. */
  onChange(listener: (name: ClusterName) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the roster shows a revision of the store. */
  reached(revision: number, options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#view.reached(revision, options);
  }

  close(): Promise<void> {
    return this.#view.close();
  }

  #take(name: ClusterName): void {
    if (this.#configured.has(name)) {
      this.#logger.warn("a stored cluster has the name of a configured one and is not used", { cluster: name });
      return;
    }
    const registration = this.#view.get(name)?.record.registration;
    if (equalJson(registration, this.#registrations.get(name))) return;
    if (registration === undefined) this.#registrations.delete(name);
    else this.#registrations.set(name, registration);
    for (const listener of this.#listeners) listener(name);
  }
}
