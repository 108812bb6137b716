import { internal, type Clock } from "@oaas/foundation";
import { RolloutGate, type ClusterName, type DeploymentKey } from "@oaas/models";
import { combineTransactions } from "@oaas/storage";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import { unitsOf, type DesiredRevision, type RevisionRecord } from "../records/deployment-record.ts";
import {
  applySagaResult,
  closeRevision,
  completeRevision,
  isRejectedEverywhere,
  revertToFallback,
  type Fallback,
} from "../records/deployment-outcome.ts";
import type { CollectionClaims } from "../stores/collection-claims.ts";
import type { DeploymentPlan, PlannedUnit } from "../planner/plan-types.ts";
import { unitIdOf } from "../planner/unit-id.ts";
import type { UnitCallOptions } from "../ports.ts";
import type { SagaKind, SagaWork, FinalTransaction, StepCall } from "../saga-engine/kind.ts";
import type { SagaOutcome, SagaRecord, SagaStep } from "../saga-engine/saga.ts";
import { DEPLOY_CLASS } from "./saga-plans.ts";
import { isExplicit, unitNamespace, type DeploymentSagaData } from "../records/deployment-saga.ts";
import type { UnitSender } from "./unit-sender.ts";

export interface DeploymentSagaDeps {
  readonly deployments: DeploymentStore;
  readonly sender: UnitSender;
  readonly claims: Pick<CollectionClaims, "stageFree">;
  readonly clock: Clock;
}

/** The revision that was committed together with its saga, so that the saga does not read it back from the store. */
export interface CommittedRevision {
  readonly entry: RevisionRecord;
  readonly plan: DeploymentPlan;
}

/** Sends units, removes the units that are no longer wanted, and restores the previous ones when it is undone. */
export function deployClass(deps: DeploymentSagaDeps): SagaKind {
  return {
    name: DEPLOY_CLASS,
    open: async (saga, committed) => {
      const data = saga.data as DeploymentSagaData;
      const load = (revision: DesiredRevision | undefined): Promise<RolloutUnits | undefined> =>
        loadUnits(deps, data.key, revision, committed as CommittedRevision | undefined);
      const [target, fallback] = await Promise.all([load(data.target), load(data.fallback)]);
      return new DeployWork(deps, data, target, fallback);
    },
  };
}

/** The units of one revision, by cluster. */
interface RolloutUnits {
  readonly plan: DeploymentPlan;
  readonly units: ReadonlyMap<string, PlannedUnit>;
  readonly deployment: Fallback["deployment"];
  readonly unitRevision: number;
}

async function loadUnits(
  { deployments }: DeploymentSagaDeps,
  key: DeploymentKey,
  desired: DesiredRevision | undefined,
  committed: CommittedRevision | undefined,
): Promise<RolloutUnits | undefined> {
  if (desired === undefined) return undefined;
  const { revision, unitRevision } = desired;
  const { entry, plan } =
    committed?.entry.revision === revision ? committed : await loadRevision(deployments, key, revision);
  const units = new Map(unitsOf(plan, entry.withdrawn).map((unit) => [unit.cluster, unit]));
  return { plan, units, unitRevision, deployment: entry.deployment as Fallback["deployment"] };
}

async function loadRevision(
  deployments: DeploymentStore,
  key: DeploymentKey,
  revision: number,
): Promise<CommittedRevision> {
  const [entry, plan] = await Promise.all([deployments.revision(key, revision), deployments.plan(key, revision)]);
  if (entry === undefined || plan === undefined) {
    throw internal(`revision ${revision} of deployment "${key}" is in force but missing in its history`);
  }
  return { entry: entry.record, plan };
}

class DeployWork implements SagaWork {
  readonly #deps: DeploymentSagaDeps;
  readonly #data: DeploymentSagaData;
  readonly #target: RolloutUnits | undefined;
  readonly #fallback: RolloutUnits | undefined;

  constructor(
    deps: DeploymentSagaDeps,
    data: DeploymentSagaData,
    target: RolloutUnits | undefined,
    fallback: RolloutUnits | undefined,
  ) {
    this.#deps = deps;
    this.#data = data;
    this.#target = target;
    this.#fallback = fallback;
  }

  async perform(step: SagaStep, { signal }: StepCall): Promise<string> {
    if (step.action === "remove") return this.#remove(step, signal);
    const { plan, unit, unitRevision } = this.#unitOf(step);
    await this.#deps.sender.send(plan, unit, unitRevision, this.#callOptions(step, signal));
    return "accepted";
  }

  async confirm(step: SagaStep, { signal }: StepCall): Promise<void> {
    if (step.action !== "send" || this.#data.gate !== RolloutGate.available) return;
    const { plan, unit } = this.#unitOf(step);
    const namespace = unitNamespace(this.#data, step.target);
    await this.#deps.sender.awaitAvailable(plan, unit, { signal, namespace });
  }

  async undo(step: SagaStep, { signal }: StepCall): Promise<string> {
    const unit = this.#fallback?.units.get(step.target);
    if (this.#fallback === undefined || unit === undefined) return this.#remove(step, signal);
    const plan = this.#fallbackPlan(this.#fallback.plan);
    // A copy of the unit, because encoded units are kept by identity.
    await this.#deps.sender.send(plan, { ...unit }, this.#data.lastRevision, this.#callOptions(step, signal));
    return "restored";
  }

  /** A revision that may change the layout of a state store is undone with the same permission. */
  #fallbackPlan(plan: DeploymentPlan): DeploymentPlan {
    const mayChange = this.#target?.plan.odgm?.allowLayoutChange === true;
    return mayChange && plan.odgm !== undefined ? { ...plan, odgm: { ...plan.odgm, allowLayoutChange: true } } : plan;
  }

  async finish(saga: SagaRecord, outcome: SagaOutcome): Promise<FinalTransaction> {
    const { deployments, clock } = this.#deps;
    const { key, target, fallback, operation } = this.#data;
    const stored = await deployments.get(key);
    if (stored === undefined) return { transaction: { writes: [] } };
    const nowMs = clock.now();
    const isUndone = outcome === "undone" || outcome === "cancelled";
    // A repair has no earlier revision to restore.
    const isRejected = isRejectedEverywhere(saga) && target?.revision !== fallback?.revision;
    const isReverted = isUndone || isRejected;
    const record = isReverted
      ? revertToFallback(stored.record, saga, this.#fallbackWith(isUndone), nowMs)
      : applySagaResult(stored.record, saga, nowMs);
    const entry = target && (await deployments.revision(key, target.revision));
    const closed =
      entry?.record.outcome === "accepted" && operation !== "repair"
        ? closeRevision(entry.record, saga, outcome, nowMs)
        : entry && !isReverted && completeRevision(entry.record, saga, record);
    return {
      transaction: combineTransactions(
        deployments.stagePut(key, stored, record),
        ...(entry && closed ? [deployments.stageOutcome(entry, closed)] : []),
      ),
    };
  }

  async #remove(step: SagaStep, signal: AbortSignal): Promise<string> {
    const cluster = step.target as ClusterName;
    const { key, lastRevision } = this.#data;
    await this.#deps.sender.remove(cluster, unitIdOf(key, cluster), lastRevision, this.#callOptions(step, signal));
    return "removed";
  }

  #callOptions({ target }: SagaStep, signal: AbortSignal): UnitCallOptions {
    return { signal, explicit: isExplicit(this.#data), namespace: unitNamespace(this.#data, target) };
  }

  #unitOf({ target: cluster }: SagaStep): { plan: DeploymentPlan; unit: PlannedUnit; unitRevision: number } {
    const unit = this.#target?.units.get(cluster);
    if (this.#target === undefined || unit === undefined) {
      throw internal(`the plan of deployment "${this.#data.key}" has no unit for "${cluster}"`);
    }
    return { plan: this.#target.plan, unit, unitRevision: this.#target.unitRevision };
  }

  /** Restored units have the last revision; units that were never touched keep theirs. */
  #fallbackWith(isUndone: boolean): Fallback | undefined {
    const { fallback } = this.#data;
    const loaded = this.#fallback;
    if (fallback === undefined || loaded === undefined) return undefined;
    const { plan, deployment } = loaded;
    return {
      revision: { ...fallback, unitRevision: isUndone ? this.#data.lastRevision : fallback.unitRevision },
      deployment,
      plan,
      units: new Map(
        [...loaded.units.values()].map((unit) => [
          unit.cluster,
          { unitId: unit.unitId, digest: this.#deps.sender.digest(plan, unit) },
        ]),
      ),
    };
  }
}
