import type { PolicyInput, PolicySettings } from "../enforcement.ts";
import { round, secondsText } from "./limits.ts";

/** Why the emergency lane is open, or undefined when it is not. */
export function findEmergency({ urgency, nowMs }: PolicyInput, settings: PolicySettings): string | undefined {
  const { burnRate5m, burnRate1h, ratio, ratioSinceMs } = urgency;
  const { emergencyBurnRate, emergencyRatio, emergencyRatioMs } = settings;
  if (isAtLeast(burnRate5m, emergencyBurnRate) && isAtLeast(burnRate1h, emergencyBurnRate))
    return `the error budget burns ${round(burnRate5m)} times (5 m) and ${round(burnRate1h)} times (1 h) too fast, limit ${emergencyBurnRate}`;
  if (!isAtLeast(ratio, emergencyRatio) || ratioSinceMs === undefined || nowMs - ratioSinceMs < emergencyRatioMs)
    return undefined;
  return `${round(ratio)} times the requirement for ${secondsText(nowMs - ratioSinceMs)}, limit ${emergencyRatio} for ${secondsText(emergencyRatioMs)}`;
}

function isAtLeast(value: number | undefined, limit: number): value is number {
  return value !== undefined && Number.isFinite(value) && value >= limit;
}
