import { Fault } from "@oaas/foundation";
import type {
  ActiveFreeze,
  ClusterName,
  DeploymentKey,
  DeploymentPause,
  PackageName,
  OperationStatus,
} from "@oaas/models";
import type { Logger } from "@oaas/observability";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { ClusterDirectory } from "../ports.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import { operationStatus, subjectOf } from "../records/deployment-saga.ts";
import type { Call, Deployments } from "../use-cases.ts";
import { abandonRemovals } from "./abandon-removals.ts";
import { applyDeployment, rollBackDeployment } from "./apply-deployment.ts";
import { cancelDeployment } from "./cancel-deployment.ts";
import type { DeploymentParts } from "./deployment-parts.ts";
import { planOnly } from "./plan-deployment.ts";
import {
  diffRevisions,
  listDeployments,
  listRevisions,
  readDeployment,
  readMappings,
  readRevision,
} from "./read-deployment.ts";
import { removeAllDeployments } from "./remove-all-deployments.ts";
import { removeDeployment } from "./remove-deployment.ts";

export interface DeploymentServiceDeps extends DeploymentParts {
  readonly clusters: ClusterDirectory;
  readonly logger: Logger;
}

/** The use cases of deployments, and the queries of other parts of the package manager about them. */
export class DeploymentService implements Deployments {
  readonly #deps: DeploymentServiceDeps;

  constructor(deps: DeploymentServiceDeps) {
    this.#deps = deps;
  }

  /** Loads the lists, then resumes the sagas of processes that died. */
  async start(): Promise<void> {
    await this.#deps.view.start();
    await this.#deps.pauses.start();
    await this.#deps.freezes.start();
    await this.#deps.engine.start();
  }

  async close(graceMs?: number): Promise<void> {
    await this.#deps.engine.close(graceMs);
    await this.#deps.freezes.close();
    await this.#deps.pauses.close();
    await this.#deps.view.close();
  }

  plan: Deployments["plan"] = (request) => planOnly(this.#deps, request);
  apply: Deployments["apply"] = (request, call, options) => applyDeployment(this.#deps, request, call, options);
  remove: Deployments["remove"] = (key, call, options) => removeDeployment(this.#deps, key, call, options);
  rollBack: Deployments["rollBack"] = (key, revision, call, options) =>
    rollBackDeployment(this.#deps, key, revision, call, options);
  cancel: Deployments["cancel"] = (key, call) => cancelDeployment(this.#deps, key, call);
  get: Deployments["get"] = (key) => readDeployment(this.#deps.deployments, key);
  list: Deployments["list"] = async (query) => listDeployments(this.#deps.view, query);
  revisions: Deployments["revisions"] = (key, page) => listRevisions(this.#deps.deployments, key, page);
  revision: Deployments["revision"] = (key, revision) => readRevision(this.#deps.deployments, key, revision);
  diff: Deployments["diff"] = (key, from, to) => diffRevisions(this.#deps.deployments, key, from, to);
  mappings: Deployments["mappings"] = (key) => readMappings(this.#deps.deployments, key);

  /** The running or last operation on a deployment, from the view in memory. */
  operation(key: DeploymentKey): OperationStatus | undefined {
    const saga = this.#deps.engine.peek(subjectOf(key));
    return saga && operationStatus(saga);
  }

  /** The pause of a deployment; undefined when it has none. */
  pauseOf(key: DeploymentKey): DeploymentPause | undefined {
    return this.#deps.pauses.of(key);
  }

  /** The freeze windows that are active for some of these clusters. */
  freezesOf(clusters: readonly ClusterName[]): readonly ActiveFreeze[] {
    return this.#deps.freezes.active(clusters);
  }

  async record(key: DeploymentKey): Promise<DeploymentRecord | undefined> {
    return (await this.#deps.deployments.get(key))?.record;
  }

  /** The plan in force; undefined when there is none, or this version cannot read it. */
  async planOf(key: DeploymentKey, { desired }: DeploymentRecord): Promise<DeploymentPlan | undefined> {
    if (desired === undefined) return undefined;
    return this.#deps.deployments.plan(key, desired.revision).catch((thrown: unknown) => {
      const fault = Fault.from(thrown);
      if (fault.retryable) throw fault;
      return undefined;
    });
  }

  /** Every deployment, from the view in memory. */
  *records(): Iterable<DeploymentRecord> {
    for (const { record } of this.#deps.view.all()) yield record;
  }

  /** Why the lists may be outdated; undefined when they are current. */
  get viewFault(): Fault | undefined {
    return this.#deps.view.fault;
  }

  /** The revisions of a package that its deployments run, from the view in memory. */
  packageRevisionsInUse(name: PackageName): ReadonlySet<number> {
    const inUse = new Set<number>();
    for (const { record } of this.#deps.view.all()) {
      if (record.deployment.packageName === name && record.packageRevision !== undefined)
        inUse.add(record.packageRevision);
    }
    return inUse;
  }

  /** Keys of the deployments of a package, read from the store. */
  keysOf(name: PackageName): Promise<readonly DeploymentKey[]> {
    return this.#deps.deployments.keysOf(name);
  }

  /** Resolves when the lists have reached a store revision. */
  reached(revision: number, options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#deps.view.waitForRevision(revision, options);
  }

  /** Keys of the deployments that have, or may have left, a unit in a cluster. */
  keysIn(cluster: ClusterName): readonly DeploymentKey[] {
    return [...this.#deps.view.all()]
      .filter(({ record }) => Object.hasOwn(record.placements, cluster))
      .map(({ id }) => id as DeploymentKey);
  }

  /** Drops the pending removals in a removed cluster. Returns the number of deployments that had one. */
  async abandonRemovals(cluster: ClusterName): Promise<number> {
    const abandoned = await abandonRemovals(this.#deps, cluster);
    if (abandoned.length > 0) {
      this.#deps.logger.warn("abandoned removals in removed cluster", { cluster, deployments: abandoned });
    }
    return abandoned.length;
  }

  /** Deletes all deployments of a package, then the package; resumed after a crash. */
  async removeAll(name: PackageName, call: Call): Promise<"deleted" | "accepted"> {
    for (const { deployment, deletion, placements } of this.records()) {
      if (deployment.packageName !== name || deletion !== undefined) continue;
      await this.#deps.freezes.stageUnfrozen(deployment.key, Object.keys(placements) as ClusterName[]);
    }
    return removeAllDeployments(this.#deps, name, call);
  }
}
