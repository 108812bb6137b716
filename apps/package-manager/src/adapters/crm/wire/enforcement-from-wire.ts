import type { EnforcementReport as WireReport } from "@oaas/contracts/grpc";
import { omitUndefined } from "@oaas/contracts/rest";
import type { EnforcementAction, EnforcementReport } from "@oaas/models";
import { nonEmpty } from "./non-empty.ts";

/** The state of enforcement of a class runtime; actions without finite numbers are dropped. */
export function enforcementFromWire(report: WireReport | undefined): EnforcementReport {
  const { conditions = [], states = [], decisions = [] } = report ?? {};
  return {
    conditions: conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message })),
    states: states.map((one) =>
      omitUndefined({
        component: one.component,
        dimension: one.dimension,
        lastSkip: nonEmpty(one.lastSkip),
        lastAction: one.lastAction && actionFromWire(one.lastAction),
        frozenUntil: nonEmpty(one.frozenUntil),
        directionChanges: one.directionChanges,
      }),
    ),
    decisions: decisions.map(({ component, dimension, appliedAt, digest, eventName, record }) => ({
      component,
      dimension,
      appliedAt,
      digest,
      eventName,
      record,
    })),
  };
}

function actionFromWire({ at, from, to, lane }: EnforcementAction): EnforcementAction | undefined {
  return Number.isFinite(from) && Number.isFinite(to) ? { at, from, to, lane } : undefined;
}
