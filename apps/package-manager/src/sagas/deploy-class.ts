import { internal, type Ambient } from "@oaas/foundation";
import { RolloutGate, type ClusterName } from "@oaas/models";
import { together } from "@oaas/storage";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import { unitsOf, type DesiredRevision } from "../records/deployment-record.ts";
import {
  applySagaResult,
  closeRevision,
  completeRevision,
  isRejectedEverywhere,
  revertToFallback,
  type Fallback,
} from "../records/deployment-outcome.ts";
import type { DeploymentPlan, PlannedUnit } from "../planner/plan-types.ts";
import { unitIdOf } from "../planner/unit-id.ts";
import type { SagaKind, SagaWork, FinalTransaction, StepCall } from "../saga-engine/kind.ts";
import type { SagaOutcome, SagaRecord, SagaStep } from "../saga-engine/saga.ts";
import { DEPLOY_CLASS } from "./saga-plans.ts";
import type { DeploymentSagaData } from "../records/deployment-saga.ts";
import type { UnitSender } from "./unit-sender.ts";

export interface DeploymentSagaDeps {
  readonly deployments: DeploymentStore;
  readonly sender: UnitSender;
  readonly ambient: Ambient;
}

/** Sends units, removes what is no longer wanted, and puts back what was there when it is undone. */
export function deployClass(deps: DeploymentSagaDeps): SagaKind {
  return {
    name: DEPLOY_CLASS,
    open: async (saga) => {
      const data = saga.data as DeploymentSagaData;
      const [target, fallback] = await Promise.all([
        wantedBy(deps, data, data.target),
        wantedBy(deps, data, data.fallback),
      ]);
      return new DeployWork(deps, data, target, fallback);
    },
  };
}

/** A plan with the units of it that are wanted, by cluster. */
interface Wanted {
  readonly plan: DeploymentPlan;
  readonly units: ReadonlyMap<string, PlannedUnit>;
  readonly deployment: Fallback["deployment"];
  readonly unitRevision: number;
}

async function wantedBy(
  { deployments }: DeploymentSagaDeps,
  { key }: DeploymentSagaData,
  inForce: DesiredRevision | undefined,
): Promise<Wanted | undefined> {
  if (inForce === undefined) return undefined;
  const { revision, unitRevision } = inForce;
  const [entry, plan] = await Promise.all([deployments.revision(key, revision), deployments.plan(key, revision)]);
  if (entry === undefined || plan === undefined) {
    throw internal(`revision ${revision} of deployment "${key}" is in force but not in its history`);
  }
  const units = new Map(unitsOf(plan, entry.record.withdrawn).map((unit) => [unit.cluster, unit]));
  return { plan, units, unitRevision, deployment: entry.record.deployment as Fallback["deployment"] };
}

class DeployWork implements SagaWork {
  readonly #deps: DeploymentSagaDeps;
  readonly #data: DeploymentSagaData;
  readonly #target: Wanted | undefined;
  readonly #fallback: Wanted | undefined;

  constructor(
    deps: DeploymentSagaDeps,
    data: DeploymentSagaData,
    target: Wanted | undefined,
    fallback: Wanted | undefined,
  ) {
    this.#deps = deps;
    this.#data = data;
    this.#target = target;
    this.#fallback = fallback;
  }

  async perform(step: SagaStep, { signal }: StepCall): Promise<string> {
    if (step.action === "remove") return this.#remove(step, signal);
    const { plan, unit, unitRevision } = this.#sent(step);
    await this.#deps.sender.send(plan, unit, unitRevision, signal);
    return "accepted";
  }

  async confirm(step: SagaStep, { signal }: StepCall): Promise<void> {
    if (step.action !== "send" || this.#data.gate !== RolloutGate.available) return;
    const { plan, unit } = this.#sent(step);
    await this.#deps.sender.awaitAvailable(plan, unit, signal);
  }

  async undo(step: SagaStep, { signal }: StepCall): Promise<string> {
    const unit = this.#fallback?.units.get(step.target);
    if (this.#fallback === undefined || unit === undefined) return this.#remove(step, signal);
    await this.#deps.sender.send(this.#fallback.plan, unit, this.#data.lastRevision, signal);
    return "put back as it was";
  }

  async finish(saga: SagaRecord, outcome: SagaOutcome): Promise<FinalTransaction> {
    const { deployments, ambient } = this.#deps;
    const { key, target, fallback } = this.#data;
    const stored = await deployments.get(key);
    if (stored === undefined) return { transaction: { writes: [] } };
    const nowMs = ambient.clock.now();
    const isUndone = outcome === "undone" || outcome === "cancelled";
    // A repair has no wish before its own to go back to.
    const isRefused = isRejectedEverywhere(saga) && target?.revision !== fallback?.revision;
    const isTakenBack = isUndone || isRefused;
    const record = isTakenBack
      ? revertToFallback(stored.record, saga, this.#fallbackWith(isUndone), nowMs)
      : applySagaResult(stored.record, saga, nowMs);
    const entry = target && (await deployments.revision(key, target.revision));
    const closed =
      entry?.record.outcome === "running"
        ? closeRevision(entry.record, saga, outcome)
        : entry && !isTakenBack && completeRevision(entry.record, saga, record);
    return {
      transaction: together(
        deployments.stagePut(key, stored, record),
        ...(entry && closed ? [deployments.stageOutcome(entry, closed)] : []),
      ),
    };
  }

  async #remove(step: SagaStep, signal: AbortSignal): Promise<string> {
    const cluster = step.target as ClusterName;
    await this.#deps.sender.remove(cluster, unitIdOf(this.#data.key, cluster), this.#data.lastRevision, signal);
    return "removed";
  }

  #sent({ target: cluster }: SagaStep): { plan: DeploymentPlan; unit: PlannedUnit; unitRevision: number } {
    const unit = this.#target?.units.get(cluster);
    if (this.#target === undefined || unit === undefined) {
      throw internal(`the plan of deployment "${this.#data.key}" has no unit for "${cluster}"`);
    }
    return { plan: this.#target.plan, unit, unitRevision: this.#target.unitRevision };
  }

  /** Units that were put back carry the last revision; those never touched, the one they had. */
  #fallbackWith(isUndone: boolean): Fallback | undefined {
    const { fallback } = this.#data;
    const wanted = this.#fallback;
    if (fallback === undefined || wanted === undefined) return undefined;
    const { plan, deployment } = wanted;
    return {
      inForce: { ...fallback, unitRevision: isUndone ? this.#data.lastRevision : fallback.unitRevision },
      deployment,
      plan,
      units: new Map(
        [...wanted.units.values()].map((unit) => [
          unit.cluster,
          { unitId: unit.unitId, digest: this.#deps.sender.digest(plan, unit) },
        ]),
      ),
    };
  }
}
