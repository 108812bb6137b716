import { omitUndefined } from "@oaas/contracts/rest";
import { invalidArgument, type Ambient } from "@oaas/foundation";
import type { ActiveFreeze, ClassDeployment, ClusterName, Package, PackageName } from "@oaas/models";
import type { Transaction } from "@oaas/storage";
import {
  ownEntry,
  type CandidateCluster,
  type DeploymentPlan,
  type ExistingUnit,
  type PlanInput,
  type PlannerSettings,
  type UsedCollection,
} from "../../planner/plan-types.ts";
import { networkOf } from "../../planner/placement/networks.ts";
import type { Networks } from "../../stores/collection-claims.ts";
import type { ClusterDirectory, HealthReading } from "../../ports.ts";
import type { Placements } from "../../records/deployment-record.ts";
import { subjectOf } from "../../records/deployment-saga.ts";
import type { PlanRequest } from "../../use-cases.ts";

/** The packages that deployments use. */
export interface PackageSource {
  /** A package, and the staged reference to it by `user`. */
  use(
    name: PackageName,
    user: string,
  ): Promise<{
    readonly record: { readonly package: Package; readonly revision: number };
    readonly stage: Transaction;
  }>;
  revision(name: PackageName, revision: number): Promise<{ readonly package: Package; readonly revision: number }>;
  /** The revision that a package would get: the current one when its content is unchanged. */
  nextRevision(definition: Package): Promise<number>;
}

export interface PlanInputSources {
  readonly packages: PackageSource;
  readonly clusters: ClusterDirectory;
  /** Stages references to clusters, so that none of them is removed before the commit. */
  readonly clusterReferences: { stageReference(names: readonly ClusterName[]): Promise<Transaction> };
  readonly settings: PlannerSettings;
  readonly ambient: Ambient;
  /** Replicas per function that a cluster recommends from its measurements. */
  readonly recommended?: (
    deployment: ClassDeployment,
    cluster: ClusterName,
    namespace: string | undefined,
  ) => CandidateCluster["recommendedReplicas"];
  /** The freeze windows of a cluster that are active. */
  readonly frozen?: (cluster: ClusterName) => readonly ActiveFreeze[];
  /** Collections that other deployments use, of those that the deployment may use. */
  readonly usedCollections: (deployment: NamedDeployment) => readonly UsedCollection[];
  /** The namespace that a cluster reports for the unit of a deployment. */
  readonly reportedNamespace?: (deployment: ClassDeployment, cluster: ClusterName) => string | undefined;
}

/** What runs of a deployment before it is planned. */
export interface RunningDeployment {
  /** The plan in force. */
  readonly plan?: DeploymentPlan | undefined;
  /** The clusters that have or may have a unit. */
  readonly placements?: Placements | undefined;
  /** The deployment of the plan in force. */
  readonly deployment?: ClassDeployment | undefined;
  /** Set when the deployment is planned again without a request of its user: whether its state store may be moved. */
  readonly mayMoveState?: boolean;
  /** Collections that another deployment claimed since an earlier attempt to plan. */
  readonly taken?: readonly UsedCollection[];
}

/** A deployment whose package is known. */
export type NamedDeployment = ClassDeployment & { readonly packageName: PackageName };

export interface GatheredInput {
  readonly input: PlanInput;
  readonly deployment: NamedDeployment;
  /** Stages the reference of the deployment to the package revision that was read. */
  readonly packageReference: Transaction;
  readonly networks: Networks;
}

/** Reads everything that a plan depends on, once. */
export async function gatherPlanInput(
  { deployment: requested, whatIf }: PlanRequest,
  { plan: previous, placements = {}, deployment: running, mayMoveState, taken = [] }: RunningDeployment,
  sources: PlanInputSources,
): Promise<GatheredInput> {
  const deployment = requirePackageName(requested);
  const { targetClusters } = deployment;
  const [{ from, stage }, readings] = await Promise.all([
    selectPackage(deployment, whatIf, sources.packages),
    // Wait only for the clusters the deployment names.
    sources.clusters.readings(targetClusters.length === 0 ? {} : { needed: targetClusters }),
  ]);
  const input: PlanInput = {
    package: from.package,
    packageRevision: from.revision,
    deployment,
    clusters: readings.flatMap((reading) => candidate(reading, { deployment, previous, placements }, sources)),
    settings: sources.settings,
    usedCollections: [...sources.usedCollections(deployment), ...taken],
    ...(previous === undefined ? {} : { previous }),
    ...(previous === undefined || running === undefined ? {} : { running }),
    ...(mayMoveState === undefined ? {} : { mayMoveState }),
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
  return { input, deployment, packageReference: stage, networks: networksOf(readings) };
}

/** The data plane network of each cluster, by the last readings. */
export function networksOf(readings: readonly HealthReading[]): Networks {
  const networks = new Map(
    readings.map(({ cluster, health }) => [cluster, networkOf({ name: cluster, reading: health })]),
  );
  return (cluster) => networks.get(cluster) ?? networkOf({ name: cluster });
}

interface SelectedPackage {
  readonly from: { readonly package: Package; readonly revision: number };
  readonly stage: Transaction;
}

/** The registered package, or the one that is assumed. */
async function selectPackage(
  { packageName, key }: NamedDeployment,
  whatIf: PlanRequest["whatIf"],
  packages: PackageSource,
): Promise<SelectedPackage> {
  const assumed = whatIf?.package;
  if (assumed !== undefined) {
    assertSameName(assumed.name, packageName);
    return { from: { package: assumed, revision: await packages.nextRevision(assumed) }, stage: { writes: [] } };
  }
  const { record, stage } = await packages.use(packageName, subjectOf(key));
  const revision = whatIf?.packageRevision;
  return { from: revision === undefined ? record : await packages.revision(packageName, revision), stage };
}

function assertSameName(assumed: PackageName, packageName: PackageName): void {
  if (assumed === packageName) return;
  throw invalidArgument("the plan", [
    {
      path: "$.what_if.package.name",
      message: `is ${assumed}, but the deployment uses package ${packageName}`,
      fix: "use the same name",
    },
  ]);
}

function requirePackageName(deployment: ClassDeployment): NamedDeployment {
  const { packageName } = deployment;
  if (packageName !== undefined) return { ...deployment, packageName };
  throw invalidArgument("the deployment", [
    { path: "$.package_name", message: "is missing", fix: "set it to the package of the class" },
  ]);
}

interface RunningContext {
  readonly deployment: ClassDeployment;
  readonly previous: DeploymentPlan | undefined;
  readonly placements: Placements;
}

/** The unit that the cluster has, or may have left from an earlier revision. */
function existingUnit(
  cluster: ClusterName,
  { deployment, previous, placements }: RunningContext,
  { reportedNamespace }: PlanInputSources,
): ExistingUnit | undefined {
  const unit = ownEntry(placements, cluster) ?? previous?.units.find((one) => one.cluster === cluster);
  if (unit === undefined) return undefined;
  return omitUndefined({ namespace: unit.namespace, reported: reportedNamespace?.(deployment, cluster) });
}

function candidate(reading: HealthReading, running: RunningContext, sources: PlanInputSources): CandidateCluster[] {
  const entry = sources.clusters.get(reading.cluster);
  if (entry === undefined) return [];
  const { takenAtMs, error, breaker, health } = reading;
  const existing = existingUnit(reading.cluster, running, sources);
  const [frozen] = sources.frozen?.(reading.cluster) ?? [];
  const recommended = sources.recommended?.(running.deployment, reading.cluster, existing?.namespace);
  return [
    {
      name: reading.cluster,
      labels: entry.labels,
      breaker,
      ...(entry.cordon === undefined ? {} : { cordon: entry.cordon }),
      ...(frozen === undefined ? {} : { frozen }),
      ...(entry.availability === undefined ? {} : { prior: entry.availability }),
      ...(entry.cost === undefined ? {} : { cost: entry.cost }),
      ...(entry.defaultNamespace === undefined ? {} : { defaultNamespace: entry.defaultNamespace }),
      ...(entry.allowedNamespaces === undefined ? {} : { allowedNamespaces: entry.allowedNamespaces }),
      ...(existing === undefined ? {} : { existing }),
      ...(takenAtMs === undefined
        ? {}
        : { reading: health, readingAgeMs: Math.max(0, sources.ambient.clock.now() - takenAtMs) }),
      ...(error === undefined ? {} : { problem: error }),
      ...(recommended === undefined ? {} : { recommendedReplicas: recommended }),
    },
  ];
}
