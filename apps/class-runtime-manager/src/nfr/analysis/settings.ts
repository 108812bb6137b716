import { DEFAULT_ANALYZER_SETTINGS, type AnalyzerSettings } from "@oaas/nfr/analyzer";
import type { CrmConfig } from "../../config.ts";

/** Steps without a sample after which data is outdated. */
const MAX_MISSED_STEPS = 6;

/** The settings of the analysis. The speed divides the times that are not settings. */
export function analyzerSettings(
  { prometheus, analyzer }: Pick<CrmConfig, "prometheus" | "analyzer">,
  speed = 1,
): AnalyzerSettings {
  const { rangeMs, stepMs, rateWindowMs } = prometheus;
  const { smoothingHalfLifeMs, settlingMs, historyHoldMs } = DEFAULT_ANALYZER_SETTINGS;
  return {
    ...DEFAULT_ANALYZER_SETTINGS,
    smoothingHalfLifeMs: smoothingHalfLifeMs / speed,
    settlingMs: settlingMs / speed,
    historyHoldMs: historyHoldMs / speed,
    windowMs: rangeMs,
    stepMs,
    rateWindowMs,
    maxDataAgeMs: Math.max(MAX_MISSED_STEPS * stepMs, 3 * analyzer.everyMs),
    assumedCpuMillicores: analyzer.assumedCpuMillicores,
  };
}
