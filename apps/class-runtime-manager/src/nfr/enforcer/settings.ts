import type { PolicySettings } from "@oaas/nfr";
import { DEFAULT_POLICY } from "@oaas/nfr/policy";
import type { CrmConfig } from "../../config.ts";

/**
 * The settings of the policy. A window survives two missed ticks. The speed divides the times that are not settings, and
 * multiplies the rates.
 */
export function policySettings(
  { enforcement, analyzer, limits }: Pick<CrmConfig, "enforcement" | "analyzer" | "limits">,
  speed = 1,
): PolicySettings {
  const { upWindowMs, downWindowMs, emergencyRatioMs, emergencyCooldownMs, verificationMs, freezeMs } = DEFAULT_POLICY;
  const { maxDirectionChangesPerHour } = DEFAULT_POLICY;
  return {
    ...DEFAULT_POLICY,
    upWindowMs: upWindowMs / speed,
    downWindowMs: downWindowMs / speed,
    emergencyRatioMs: emergencyRatioMs / speed,
    emergencyCooldownMs: emergencyCooldownMs / speed,
    verificationMs: verificationMs / speed,
    freezeMs: freezeMs / speed,
    maxDirectionChangesPerHour: maxDirectionChangesPerHour * speed,
    stabilityMs: enforcement.stabilityMs,
    cooldownMs: enforcement.cooldownMs,
    maxDelta: enforcement.maxDeltaPercent / 100,
    maxGapMs: Math.max(DEFAULT_POLICY.maxGapMs, 3 * analyzer.everyMs),
    maxReplicas: limits.maxReplicas,
  };
}
