import type { PolicySettings } from "@oaas/nfr";
import { DEFAULT_POLICY } from "@oaas/nfr/policy";
import type { CrmConfig } from "../../config.ts";

/** The settings of the policy. A window survives two missed ticks. */
export function policySettings({
  enforcement,
  analyzer,
  limits,
}: Pick<CrmConfig, "enforcement" | "analyzer" | "limits">): PolicySettings {
  return {
    ...DEFAULT_POLICY,
    stabilityMs: enforcement.stabilityMs,
    cooldownMs: enforcement.cooldownMs,
    maxDelta: enforcement.maxDeltaPercent / 100,
    maxGapMs: Math.max(DEFAULT_POLICY.maxGapMs, 3 * analyzer.everyMs),
    maxReplicas: limits.maxReplicas,
  };
}
