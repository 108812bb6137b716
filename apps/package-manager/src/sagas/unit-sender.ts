import type { DeploymentUnit } from "@oaas/contracts/grpc";
import { Fault, failedPrecondition, sleep, startDeadline, type Ambient } from "@oaas/foundation";
import { DeploymentCondition, LifecyclePhase, type ClusterName } from "@oaas/models";
import type { DeploymentPlan, PlannedUnit } from "../planner/plan-types.ts";
import type { CrmGateway, UnitReport } from "../ports.ts";

/** Makes the unit of a plan as it is sent. The digest does not depend on the envelope. */
export type UnitWriter = (
  plan: DeploymentPlan,
  unit: PlannedUnit,
  envelope: { readonly revision: number; readonly createdAtMs: number; readonly managedBy: string },
) => DeploymentUnit;

export interface UnitSenderOptions {
  readonly gateway: CrmGateway;
  readonly writeUnit: UnitWriter;
  readonly ambient: Ambient;
  /** Which package manager owns the units; see `installationId`. */
  readonly managedBy: string;
  /** How long a cluster may take to pass a gate. */
  readonly gateTimeoutMs: number;
  readonly gatePollMs: number;
}

/** Brings units of plans to clusters. */
export class UnitSender {
  readonly #options: UnitSenderOptions;

  constructor(options: UnitSenderOptions) {
    this.#options = options;
  }

  /** What stands for the content of a unit, whatever it is sent with. */
  digest(plan: DeploymentPlan, unit: PlannedUnit): string {
    return this.#wire(plan, unit, 0).digest ?? "";
  }

  async send(plan: DeploymentPlan, unit: PlannedUnit, revision: number, signal: AbortSignal): Promise<void> {
    await this.#options.gateway.deploy(unit.cluster, this.#wire(plan, unit, revision), { signal });
  }

  async remove(
    cluster: ClusterName,
    unitId: PlannedUnit["unitId"],
    revision: number,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#options.gateway.remove(cluster, unitId, { signal, revision });
  }

  /** Waits until the unit, as sent, is available; failed-precondition when that takes too long. */
  async awaitAvailable(plan: DeploymentPlan, unit: PlannedUnit, signal: AbortSignal): Promise<void> {
    const { gateway, ambient, gateTimeoutMs, gatePollMs } = this.#options;
    const digest = this.digest(plan, unit);
    using deadline = startDeadline(ambient, gateTimeoutMs, signal);
    let last = "nothing was heard of it";
    for (;;) {
      try {
        const report = await gateway.unit(unit.cluster, unit.unitId, { signal: deadline.signal });
        if (isAvailable(report, digest)) return;
        last =
          report === undefined ? "it is not there" : (report.message ?? `it is ${report.phase ?? report.condition}`);
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

  #wire(plan: DeploymentPlan, unit: PlannedUnit, revision: number): DeploymentUnit {
    const { writeUnit, ambient, managedBy } = this.#options;
    return writeUnit(plan, unit, { revision, createdAtMs: ambient.clock.now(), managedBy });
  }
}

function isAvailable(report: UnitReport | undefined, digest: string): boolean {
  if (report === undefined || (report.digest !== undefined && report.digest !== digest)) return false;
  return report.phase === undefined
    ? report.condition === DeploymentCondition.running
    : report.phase === LifecyclePhase.available;
}
