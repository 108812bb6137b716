import type { DeploymentUnit } from "@oaas/contracts/grpc";
import { Fault, failedPrecondition, sleep, startDeadline, type Ambient } from "@oaas/foundation";
import { DeploymentCondition, LifecyclePhase, type ClusterName } from "@oaas/models";
import type { DeploymentPlan, PlannedUnit } from "../planner/plan-types.ts";
import type { CrmGateway, UnitCallOptions, UnitReport } from "../ports.ts";

/** The fields of a unit that do not come from its plan; its digest does not depend on them. */
export interface UnitEnvelope {
  /** Increases with each change of the deployment, so that a late retry cannot undo a newer one. */
  readonly revision: number;
  readonly createdAtMs: number;
  /** The package manager that owns the unit. */
  readonly managedBy: string;
}

/** Turns a planned unit into its wire form. */
export interface UnitEncoder {
  /** The unit with its digest and without an envelope. */
  encode(plan: DeploymentPlan, unit: PlannedUnit): DeploymentUnit;
  withEnvelope(encoded: DeploymentUnit, envelope: UnitEnvelope): DeploymentUnit;
}

export interface UnitSenderOptions {
  readonly gateway: Pick<CrmGateway, "deploy" | "remove" | "unit">;
  readonly encoder: UnitEncoder;
  readonly ambient: Ambient;
  /** The package manager that owns the units; see `installationId`. */
  readonly managedBy: string;
  /** How long a unit may take to become available. */
  readonly gateTimeoutMs: number;
  readonly gatePollMs: number;
}

/** Sends the units of plans to clusters. Each planned unit is encoded once. */
export class UnitSender {
  readonly #options: UnitSenderOptions;
  readonly #encoded = new WeakMap<PlannedUnit, DeploymentUnit>();

  constructor(options: UnitSenderOptions) {
    this.#options = options;
  }

  /** The digest of the content of a unit, independent of its envelope. */
  digest(plan: DeploymentPlan, unit: PlannedUnit): string {
    return this.encoded(plan, unit).digest ?? "";
  }

  async send(plan: DeploymentPlan, unit: PlannedUnit, revision: number, call: UnitCallOptions): Promise<void> {
    const { gateway, encoder, ambient, managedBy } = this.#options;
    const envelope = { revision, createdAtMs: ambient.clock.now(), managedBy };
    await gateway.deploy(unit.cluster, encoder.withEnvelope(this.encoded(plan, unit), envelope), call);
  }

  async remove(
    cluster: ClusterName,
    unitId: PlannedUnit["unitId"],
    revision: number,
    call: UnitCallOptions,
  ): Promise<void> {
    await this.#options.gateway.remove(cluster, unitId, { ...call, revision });
  }

  /** Waits until the unit, as sent, is available. Throws failed-precondition after the timeout. */
  async awaitAvailable(
    plan: DeploymentPlan,
    unit: PlannedUnit,
    { signal, namespace }: { readonly signal: AbortSignal; readonly namespace?: string | undefined },
  ): Promise<void> {
    const { gateway, ambient, gateTimeoutMs, gatePollMs } = this.#options;
    const digest = this.digest(plan, unit);
    using deadline = startDeadline(ambient, gateTimeoutMs, signal);
    let last = "no status was reported";
    for (;;) {
      try {
        const report = await gateway.unit(unit.cluster, unit.unitId, { signal: deadline.signal, namespace });
        if (isAvailable(report, digest)) return;
        last =
          report === undefined ? "it does not exist" : (report.message ?? `it is ${report.phase ?? report.condition}`);
      } catch (thrown) {
        if (!deadline.signal.aborted) last = Fault.from(thrown).message;
      }
      try {
        await sleep(ambient.timers, gatePollMs, deadline.signal);
      } catch (thrown) {
        if (signal.aborted) throw thrown;
        throw failedPrecondition(
          unit.cluster,
          `${unit.unitId} did not become available in ${unit.cluster} within ${gateTimeoutMs / 1000} s: ${last}`,
        );
      }
    }
  }

  /** The unit in its wire form, without an envelope. */
  encoded(plan: DeploymentPlan, unit: PlannedUnit): DeploymentUnit {
    let encoded = this.#encoded.get(unit);
    if (encoded === undefined) {
      encoded = this.#options.encoder.encode(plan, unit);
      this.#encoded.set(unit, encoded);
    }
    return encoded;
  }
}

function isAvailable(report: UnitReport | undefined, digest: string): boolean {
  if (report === undefined || (report.digest !== undefined && report.digest !== digest)) return false;
  return report.phase === undefined
    ? report.condition === DeploymentCondition.running
    : report.phase === LifecyclePhase.available;
}
