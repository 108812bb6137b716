import { failedPrecondition, Fault } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import type { Transaction } from "@oaas/storage";
import { comparePlans } from "../../planner/explanation/compare-plans.ts";
import { planDeployment } from "../../planner/plan.ts";
import { changedParts } from "../../planner/plan-digest.ts";
import type { DeploymentPlan } from "../../planner/plan-types.ts";
import { refusalFault } from "../../planner/refusals/refusal-view.ts";
import { findDisabledPart, disabledMessage } from "../../planner/refusals/refusals.ts";
import type { PlanRequest } from "../../use-cases.ts";
import { unitsOf } from "../../records/deployment-record.ts";
import {
  gatherPlanInput,
  type PlanInputSources,
  type GatheredInput,
  type NamedDeployment,
} from "./gather-plan-input.ts";

export type Planned = Omit<GatheredInput, "input"> & { readonly plan: DeploymentPlan };

/** Plans that were answered, so that it can be said what moved when one is no longer the present one. */
const REMEMBERED = 512;

/** Makes plans of wishes, and holds callers to the plan they saw. */
export class Planning {
  readonly #deps: PlanInputSources;
  readonly #answered = new Map<string, DeploymentPlan>();

  constructor(deps: PlanInputSources) {
    this.#deps = deps;
  }

  /** The plan of a wish as the world is now; a refusal is a fault. */
  async plan(request: PlanRequest, previous: DeploymentPlan | undefined): Promise<Planned> {
    const { input, ...rest } = await gatherPlanInput(request, previous, this.#deps);
    const planned = planDeployment(input);
    if (!planned.ok) throw refusalFault(planned.error);
    return { ...rest, plan: planned.value };
  }

  /** What makes a deployment need its package, where no plan is to be made; failed-precondition when that is switched off. */
  async need(deployment: NamedDeployment): Promise<Transaction> {
    const { packageName, key } = deployment;
    const { record, stage } = await this.#deps.packages.use(packageName, `deployment/${key}`);
    const off = findDisabledPart(record.package, deployment);
    if (off !== undefined) throw failedPrecondition(off, disabledMessage(off));
    return stage;
  }

  /** What makes a deployment need the clusters of its plan in which it is wanted; failed-precondition when one is not there any more. */
  needOfClusters(plan: DeploymentPlan, withdrawn: readonly ClusterName[] = []): Promise<Transaction> {
    return this.#deps.clusterReferences.stageReference(unitsOf(plan, withdrawn).map(({ cluster }) => cluster));
  }

  remember(plan: DeploymentPlan): void {
    this.#answered.delete(plan.digest);
    this.#answered.set(plan.digest, plan);
    for (const oldest of this.#answered.keys()) {
      if (this.#answered.size <= REMEMBERED) break;
      this.#answered.delete(oldest);
    }
  }

  /** A conflict that says what moved, unless the plan is the one that was seen. */
  assertSame(plan: DeploymentPlan, seen: string): void {
    if (plan.digest === seen) return;
    const before = this.#answered.get(seen);
    // Of a plan that another process made, or this one before it was started, its digest still tells which parts moved.
    const moved =
      before === undefined
        ? changedParts(seen, plan.digest).map((part) => ({ path: part, text: `${part} moved` }))
        : comparePlans(before, plan);
    const what =
      moved.length === 0
        ? `the plan "${seen}" is not the present one, and none of which it could be told what moved`
        : `the plan "${seen}" cannot be carried out any more: since then ${moved.map(({ text }) => text).join("; ")}`;
    throw new Fault(
      { kind: "conflict", resource: "plan", name: seen },
      `${what}. The plan is "${plan.digest}" now; look at it, then send that digest`,
      { context: { moved } },
    );
  }
}
