import { DEFAULT_ANALYZER_SETTINGS, type AnalyzerSettings } from "@oaas/nfr/analyzer";
import type { CrmConfig } from "../../config.ts";

/** Steps without a sample after which data is outdated. */
const MAX_MISSED_STEPS = 6;

/** The settings of the analysis. */
export function analyzerSettings({
  prometheus,
  analyzer,
}: Pick<CrmConfig, "prometheus" | "analyzer">): AnalyzerSettings {
  const { rangeMs, stepMs, rateWindowMs } = prometheus;
  return {
    ...DEFAULT_ANALYZER_SETTINGS,
    windowMs: rangeMs,
    stepMs,
    rateWindowMs,
    maxDataAgeMs: Math.max(MAX_MISSED_STEPS * stepMs, 3 * analyzer.everyMs),
    assumedCpuMillicores: analyzer.assumedCpuMillicores,
  };
}
