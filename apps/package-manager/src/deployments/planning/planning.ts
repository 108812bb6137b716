import type { OutdatedPlanWire } from "@oaas/contracts/rest";
import { failedPrecondition, Fault, ok, type Clock, type Result } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { NOOP_METER, NOOP_TRACER, type Meter, type Tracer } from "@oaas/observability";
import type { Transaction } from "@oaas/storage";
import { comparePlans, type PlanDifference } from "../../planner/explanation/compare-plans.ts";
import { changedParts } from "../../planner/plan-digest.ts";
import type { DeploymentPlan, PlanInput, PlanRefusal } from "../../planner/plan-types.ts";
import { refusalFault } from "../../planner/refusals/refusal-view.ts";
import { planWhatIf, type WhatIfPlan } from "../../planner/what-if/plan-what-if.ts";
import { findDisabledPart, disabledMessage } from "../../planner/refusals/refusals.ts";
import type { PlanRequest } from "../../use-cases.ts";
import { unitsOf } from "../../records/deployment-record.ts";
import { subjectOf } from "../../records/deployment-saga.ts";
import type { Networks } from "../../stores/collection-claims.ts";
import {
  gatherPlanInput,
  networksOf,
  type PlanInputSources,
  type GatheredInput,
  type NamedDeployment,
  type PackageSource,
  type RunningDeployment,
} from "./gather-plan-input.ts";
import { planMetrics, type PlanMetrics } from "./plan-metrics.ts";

export type Planned = Omit<GatheredInput, "input"> & WhatIfPlan;

/** Returned plans that are kept to explain which parts changed when their digest is outdated. */
const MAX_RETURNED_PLANS = 512;

/** Plans deployments, and rejects digests of outdated plans. */
export class Planning {
  readonly #sources: PlanInputSources & { readonly clock: Clock };
  readonly #returned = new Map<string, DeploymentPlan>();

  readonly #tracer: Tracer;
  readonly #metrics: PlanMetrics;

  constructor(
    sources: PlanInputSources & { readonly clock: Clock },
    { tracer = NOOP_TRACER, meter = NOOP_METER }: { readonly tracer?: Tracer | undefined; readonly meter?: Meter } = {},
  ) {
    this.#sources = sources;
    this.#tracer = tracer;
    this.#metrics = planMetrics(meter);
  }

  /**
   * Plans a deployment on the current state of clusters and packages, or on other packages than the registered ones.
   * Throws when the planner refuses.
   */
  async plan(
    request: PlanRequest,
    running: RunningDeployment,
    packages: PackageSource = this.#sources.packages,
  ): Promise<Planned> {
    return this.#tracer.run({ name: "plan deployment", childOnly: true }, async (span) => {
      const { input, ...rest } = await gatherPlanInput(request, running, { ...this.#sources, packages });
      const computed = this.#compute(input);
      if (!computed.ok) throw refusalFault(computed.error);
      const planned = computed.value;
      span.set({ "oaas.plan.units": planned.plan.units.length, "oaas.plan.digest": planned.plan.digest });
      return { ...rest, ...planned };
    });
  }

  /**
   * Plans a running deployment again, with the package revision that it runs. Returns the refusal of the planner. Its state
   * store is moved only if `mayMoveState`.
   */
  async planAgain(
    deployment: NamedDeployment,
    previous: DeploymentPlan,
    mayMoveState: boolean,
  ): Promise<Result<Pick<Planned, "plan" | "packageReference" | "networks">, PlanRefusal>> {
    const request = { deployment, whatIf: { packageRevision: previous.shared.packageRevision } };
    const { input, packageReference, networks } = await gatherPlanInput(
      request,
      { plan: previous, deployment, mayMoveState },
      this.#sources,
    );
    const computed = this.#compute(input);
    return computed.ok ? ok({ plan: computed.value.plan, packageReference, networks }) : computed;
  }

  #compute(input: PlanInput): Result<WhatIfPlan, PlanRefusal> {
    const startedAtMs = this.#sources.clock.monotonic();
    const planned = planWhatIf(input);
    this.#metrics.seconds.observe((this.#sources.clock.monotonic() - startedAtMs) / 1000);
    if (!planned.ok) this.#metrics.refusals.add(1, { reason: planned.error.kind });
    return planned;
  }

  /** The data plane network of each cluster, by the last readings. */
  async networks(): Promise<Networks> {
    return networksOf(await this.#sources.clusters.readings({}));
  }

  /** Stages the reference of a deployment to its package. Throws failed-precondition when a part it uses is disabled. */
  async stagePackageReference(deployment: NamedDeployment): Promise<Transaction> {
    const { packageName, key } = deployment;
    const { record, stage } = await this.#sources.packages.use(packageName, subjectOf(key));
    const disabled = findDisabledPart(record.package, deployment);
    if (disabled !== undefined) throw failedPrecondition(disabled, disabledMessage(disabled));
    return stage;
  }

  /** Stages the references to the clusters of a plan. Throws failed-precondition when one is no longer registered. */
  stageClusterReferences(plan: DeploymentPlan, withdrawn: readonly ClusterName[] = []): Promise<Transaction> {
    return this.#sources.clusterReferences.stageReference(unitsOf(plan, withdrawn).map(({ cluster }) => cluster));
  }

  /** Keeps a plan that is returned to a client, to compare it with a later one. */
  remember(plan: DeploymentPlan): void {
    this.#returned.delete(plan.digest);
    this.#returned.set(plan.digest, plan);
    for (const oldest of this.#returned.keys()) {
      if (this.#returned.size <= MAX_RETURNED_PLANS) break;
      this.#returned.delete(oldest);
    }
  }

  /** Throws a conflict that lists the changes when `digest` is not the digest of the current plan. */
  assertCurrent(plan: DeploymentPlan, digest: string): void {
    if (plan.digest === digest) return;
    const previous = this.#returned.get(digest);
    // Without the plan itself, as after a restart, its digest still shows which parts changed.
    const changes =
      previous === undefined ? changedParts(digest, plan.digest).map(partChange) : comparePlans(previous, plan);
    const why = changes.length === 0 ? "" : `: ${changes.map(({ text }) => text).join("; ")}`;
    throw new Fault(
      { kind: "conflict", resource: "plan", name: digest },
      `plan_digest "${digest}" is outdated${why}. Request a new plan with POST /api/v1/plans; ` +
        `the current digest is "${plan.digest}"`,
      { evidence: { reason: "outdated", current_digest: plan.digest, changes } satisfies OutdatedPlanWire },
    );
  }
}

function partChange(part: string): PlanDifference {
  return { path: part, change: "changed", text: `${part} changed` };
}
