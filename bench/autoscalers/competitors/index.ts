import { START_TARGET_UTILIZATION } from "@oaas/nfr";
import type { Autoscaler, Workload } from "@oaas/nfr/simulation";
import type { Competitor } from "../league.ts";
import { hpa } from "./hpa.ts";
import { kpa } from "./kpa.ts";
import type { MetricsSource } from "./metrics-source.ts";
import { ours, oursAbove } from "./ours.ts";
import { withReactiveLayer } from "./reactive-layer.ts";
import { vpa } from "./vpa.ts";

export const OURS = "oaas";
export const OURS_WITH_HPA = "oaas with HPA";

/** All competitors but the references, with what they see. */
export function competitorsWith(metrics: MetricsSource): readonly Competitor[] {
  return [
    { name: OURS, create: ours },
    { name: OURS_WITH_HPA, create: (workload) => oursWithHpa(workload, metrics) },
    { name: "oaas with KPA", create: (workload) => oursWithKpa(workload, metrics) },
    { name: "HPA 80 %", create: (workload) => hpa(workload, { utilization: 80 }, metrics) },
    { name: "HPA 70 %", create: (workload) => hpa(workload, { utilization: 70 }, metrics) },
    { name: "KPA", create: (workload) => kpa(workload, metrics) },
    { name: "VPA", create: vpa },
  ];
}

/** What a plain cluster deploys: our policy moves the minimum and the target of a horizontal pod autoscaler. */
function oursWithHpa(workload: Workload, metrics: MetricsSource): Autoscaler {
  const spec = { utilization: 100 * START_TARGET_UTILIZATION };
  return withReactiveLayer(workload, (limits) => hpa(limits, spec, metrics), oursAbove(workload, spec));
}

/** Above Knative the policy moves the minimum only. */
function oursWithKpa(workload: Workload, metrics: MetricsSource): Autoscaler {
  return withReactiveLayer(workload, (limits) => kpa(limits, metrics), oursAbove(workload));
}
