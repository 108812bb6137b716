import type { ClusterName } from "@oaas/models";
import type { RegistrationSource } from "../../src/adapters/crm/crm-gateway.ts";
import type { ClusterRegistration } from "../../src/use-cases.ts";

/** A list of clusters that tests change. */
export class FakeClusterBook implements RegistrationSource {
  readonly #clusters = new Map<ClusterName, ClusterRegistration>();
  readonly #listeners = new Set<(name: ClusterName) => void>();

  put(name: string, url: string, rest: Partial<ClusterRegistration> = {}): ClusterName {
    const cluster = name as ClusterName;
    this.#clusters.set(cluster, { name: cluster, url, labels: {}, retryAttempts: 3, ...rest });
    this.#notify(cluster);
    return cluster;
  }

  delete(name: ClusterName): void {
    this.#clusters.delete(name);
    this.#notify(name);
  }

  registration(name: ClusterName): ClusterRegistration | undefined {
    return this.#clusters.get(name);
  }

  onChange(listener: (name: ClusterName) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(name: ClusterName): void {
    for (const listener of this.#listeners) listener(name);
  }
}
