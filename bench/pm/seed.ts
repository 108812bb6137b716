import { packageFromWire } from "@oaas/contracts/rest";
import { timestamp } from "@oaas/foundation";
import {
  DeploymentCondition,
  type ClassKey,
  type ClusterName,
  type DeploymentKey,
  type Package,
  type PackageName,
  type UnitId,
} from "@oaas/models";
import { Collection, type KeyValueStore } from "@oaas/storage";
import { DeploymentStore } from "../../apps/package-manager/src/stores/deployment-store.ts";
import type { DeploymentRecord, Placement } from "../../apps/package-manager/src/records/deployment-record.ts";
import { PACKAGES } from "../../apps/package-manager/src/registry/package-records.ts";
import { concurrently } from "../storage/rounds.ts";

/** Where the seeded deployments run. No such cluster is configured, so that nothing is done about them. */
const CLUSTERS = ["east", "north", "west"] as ClusterName[];
const METHODS = ["create", "read", "update", "remove", "audit"];
const AT = timestamp(1_800_000_000_000);

/** A package of one class with five functions, as people write it. */
export function shopPackage(name: string, description = "Orders of a shop"): object {
  return {
    name,
    version: "1.0.0",
    metadata: { author: "shop team", description, tags: ["shop", "orders"] },
    classes: [
      {
        key: "Order",
        description: "An order, from its first item to its delivery",
        state_spec: { consistency_model: "STRONG", persistent: true },
        function_bindings: METHODS.map((method) => ({
          name: method,
          function_key: `Order.${method}`,
          access_modifier: "PUBLIC",
        })),
      },
    ],
    functions: METHODS.map((method) => ({
      key: `Order.${method}`,
      function_type: "CUSTOM",
      provision_config: {
        container_image: `registry.example/shop/order-${method}:1.0`,
        port: 8080,
        cpu_request: "100m",
        memory_request: "128Mi",
      },
      config: { LOG: "info" },
    })),
  };
}

/**
 * Writes packages `shop-00`, `shop-01` and so on, and deployments `order-00000` and so on of the first, all running in
 * three clusters.
 */
export async function seed(store: KeyValueStore, packages: number, deployments: number): Promise<void> {
  const packageRecords = new Collection(store, PACKAGES);
  await concurrently(packages, 32, async (n) => {
    const name = `shop-${String(n - 1).padStart(2, "0")}`;
    const read = packageFromWire(shopPackage(name));
    if (!read.ok) throw new Error(JSON.stringify(read.error));
    const record = { revision: 1, author: "seed", createdAt: AT };
    const dated: Package = { ...read.value, metadata: { ...read.value.metadata, createdAt: AT, updatedAt: AT } };
    await packageRecords.create(name, { ...record, package: dated });
  });
  const kept = new DeploymentStore(store);
  await concurrently(deployments, 64, async (n) => {
    const record = deploymentRecord(`order-${String(n - 1).padStart(5, "0")}` as DeploymentKey);
    await store.commit(kept.stagePut(record.deployment.key, undefined, record));
  });
}

function deploymentRecord(key: DeploymentKey): DeploymentRecord {
  const placement = (cluster: string): Placement => ({
    unitId: `${key}-${cluster}` as UnitId,
    state: "wanted",
    digest: "sha256:0123456789abcdef",
    accepted: true,
    observed: DeploymentCondition.running,
  });
  return {
    deployment: {
      key,
      packageName: "shop-00" as PackageName,
      classKey: "Order" as ClassKey,
      targetClusters: CLUSTERS,
      availableClusters: [],
      environmentKind: "cloud",
      nfr: { availability: 0.999, minThroughputRps: 500 },
      clusterTemplates: {},
      functions: [],
      allowBestEffort: false,
    },
    revision: 1,
    desired: { revision: 1, unitRevision: 1 },
    stable: { revision: 1, unitRevision: 1 },
    unitRevision: 1,
    placements: Object.fromEntries(CLUSTERS.map((cluster) => [cluster, placement(cluster)])),
    condition: DeploymentCondition.running,
    summary: { replicationFactor: 3, selectedClusters: CLUSTERS, achievedQuorumAvailability: 0.9997 },
    createdAt: AT,
    updatedAt: AT,
  };
}
