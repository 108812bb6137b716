import type { ClassRuntime, ClusterName, DeploymentCondition, DeploymentKey, FunctionKey, UnitId } from "@oaas/models";
import type { DeploymentRecord, Placement } from "../../records/deployment-record.ts";
import type { UnitReport } from "../../ports.ts";

/** A report of a cluster. */
export function reportOf(
  cluster: string,
  id: string,
  rest: Partial<Omit<UnitReport, "runtime">> & { readonly runtime?: Partial<ClassRuntime> } = {},
): UnitReport {
  const condition: DeploymentCondition = rest.condition ?? "running";
  const unitId = id as UnitId;
  return {
    unitId,
    condition,
    digest: "d1",
    ...rest,
    runtime: {
      id: unitId,
      unitId,
      packageName: "shop",
      classKey: "shop.Cart",
      targetEnvironment: "oaas",
      cluster: cluster as ClusterName,
      resourceRefs: [],
      createdAt: "2026-01-01T00:00:00Z",
      updatedAt: "2026-01-01T00:00:00Z",
      partitionCount: 1,
      status: {
        condition,
        serving: condition === "running" || condition === "degraded",
        upToDate: condition === "running",
        phase: condition === "running" ? "running" : "resource-provisioning",
        lastUpdated: "2026-01-01T00:00:00Z",
        functions: [
          {
            functionKey: "Cart.add" as FunctionKey,
            service: "s",
            port: 80,
            predictedUrl: "http://s",
            template: "dev",
            ready: condition === "running",
          },
        ],
      },
      ...rest.runtime,
    },
  };
}

/** A deployment with a unit in each of these clusters. */
export function recordOf(
  placements: Readonly<Record<string, Partial<Placement>>>,
  rest: Partial<DeploymentRecord> = {},
): DeploymentRecord {
  const entries = Object.entries(placements).map(([cluster, placement]) => [
    cluster,
    { unitId: `cart-${cluster}` as UnitId, state: "wanted", accepted: true, digest: "d1", ...placement },
  ]);
  return {
    deployment: {
      key: "cart" as DeploymentKey,
      packageName: "shop",
      classKey: "Cart",
      targetClusters: [],
      availableClusters: [],
      nfr: {},
      clusterTemplates: {},
      functions: [{ functionKey: "Cart.add", config: {} }],
      allowBestEffort: false,
    } as never,
    revision: 3,
    desired: { revision: 3, unitRevision: 3 },
    unitRevision: 3,
    placements: Object.fromEntries(entries) as DeploymentRecord["placements"],
    condition: "running",
    summary: { replicationFactor: 1, selectedClusters: [], achievedQuorumAvailability: 0.999 },
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
    ...rest,
  };
}
