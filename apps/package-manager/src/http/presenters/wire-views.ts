import { pascalCase, type explanationView, type unitStatusView } from "@oaas/contracts/rest";
import type { ClassRuntime } from "@oaas/models";
import type { z } from "zod";
import type { Explanation } from "../../use-cases.ts";

/** The status of one unit. */
export function unitStatusToWire({ id, status, updatedAt }: ClassRuntime): z.output<typeof unitStatusView> {
  return {
    id,
    status: pascalCase(status?.condition ?? "unknown"),
    phase: pascalCase(status?.phase ?? "unknown"),
    message: status?.message ?? null,
    last_updated: status?.lastUpdated ?? updatedAt,
  };
}

/** Why a deployment is not ready. */
export function explanationToWire(explanation: Explanation): z.output<typeof explanationView> {
  const { key, summary, verdict, suggestedAction, observedAt } = explanation;
  const clusters = explanation.clusters.map(({ cluster, unitId, finding = null, error = null }) => {
    return { cluster, unit_id: unitId, finding, error };
  });
  return { key, summary, verdict, suggested_action: suggestedAction, clusters, observed_at: observedAt };
}
