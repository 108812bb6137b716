import { invalidArgument, type Ambient } from "@oaas/foundation";
import type { ClassDeployment, ClusterName, Package, PackageName } from "@oaas/models";
import type { Transaction } from "@oaas/storage";
import type { CandidateCluster, DeploymentPlan, PlanInput, PlannerSettings } from "../../planner/plan-types.ts";
import type { ClusterDirectory, HealthReading } from "../../ports.ts";
import type { PlanRequest } from "../../use-cases.ts";

/** Where packages come from: the registry. */
export interface PackageSource {
  /** A package, and the part of a transaction by which something comes to need it. */
  use(
    name: PackageName,
    by: string,
  ): Promise<{
    readonly record: { readonly package: Package; readonly revision: number };
    readonly stage: Transaction;
  }>;
  revision(name: PackageName, revision: number): Promise<{ readonly package: Package; readonly revision: number }>;
}

export interface PlanInputSources {
  readonly packages: PackageSource;
  readonly clusters: ClusterDirectory;
  /** The part of a transaction by which something comes to need clusters, so that nobody removes them meanwhile. */
  readonly clusterReferences: { stageReference(names: readonly ClusterName[]): Promise<Transaction> };
  readonly settings: PlannerSettings;
  readonly ambient: Ambient;
  /** Replicas per function that a cluster's manager recommends for a deployment, where it measured. */
  readonly recommended?: (
    deployment: ClassDeployment,
    cluster: ClusterName,
  ) => Readonly<Record<string, number>> | undefined;
}

/** A wish that names its package. */
export type NamedDeployment = ClassDeployment & { readonly packageName: PackageName };

export interface GatheredInput {
  readonly input: PlanInput;
  readonly deployment: NamedDeployment;
  /** Makes the deployment need the package just as it was read. */
  readonly need: Transaction;
}

/** Everything that a plan depends on, read once. */
export async function gatherPlanInput(
  { deployment: wish, whatIf }: PlanRequest,
  previous: DeploymentPlan | undefined,
  deps: PlanInputSources,
): Promise<GatheredInput> {
  const deployment = named(wish);
  const { targetClusters } = deployment;
  const [{ record, stage }, readings] = await Promise.all([
    deps.packages.use(deployment.packageName, `deployment/${deployment.key}`),
    // Whom the wish names, nobody else is waited for.
    deps.clusters.readings(targetClusters.length === 0 ? {} : { needed: targetClusters }),
  ]);
  const from =
    whatIf?.packageRevision === undefined
      ? record
      : await deps.packages.revision(deployment.packageName, whatIf.packageRevision);
  const input: PlanInput = {
    package: from.package,
    packageRevision: from.revision,
    deployment,
    clusters: readings.flatMap((reading) => candidate(reading, deployment, deps)),
    settings: deps.settings,
    ...(previous === undefined ? {} : { previous }),
    ...(whatIf === undefined
      ? {}
      : {
          whatIf: {
            clustersDown: whatIf.clustersDown ?? [],
            clusterAvailability: {},
            ...(whatIf.availability === undefined ? {} : { availability: whatIf.availability }),
            ...(whatIf.clusterAvailability === undefined ? {} : { clusterAvailability: whatIf.clusterAvailability }),
          },
        }),
  };
  return { input, deployment, need: stage };
}

function named(deployment: ClassDeployment): NamedDeployment {
  const { packageName } = deployment;
  if (packageName !== undefined) return { ...deployment, packageName };
  throw invalidArgument("the deployment", [
    { path: "$.package_name", message: "is missing", fix: "name the package of the class" },
  ]);
}

function candidate(reading: HealthReading, deployment: ClassDeployment, deps: PlanInputSources): CandidateCluster[] {
  const entry = deps.clusters.get(reading.cluster);
  if (entry === undefined) return [];
  const { takenAtMs, error, breaker, health } = reading;
  const recommended = deps.recommended?.(deployment, reading.cluster);
  return [
    {
      name: reading.cluster,
      labels: entry.labels,
      breaker,
      ...(takenAtMs === undefined
        ? {}
        : { reading: health, readingAgeMs: Math.max(0, deps.ambient.clock.now() - takenAtMs) }),
      ...(error === undefined ? {} : { problem: error }),
      ...(recommended === undefined ? {} : { recommendedReplicas: recommended }),
    },
  ];
}
