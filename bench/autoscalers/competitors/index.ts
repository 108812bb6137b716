import type { Competitor } from "../league.ts";
import { hpa } from "./hpa.ts";
import { kpa } from "./kpa.ts";
import { ours, oursAsMinimum } from "./ours.ts";
import { withReactiveLayer } from "./reactive-layer.ts";

export const OURS = "oaas";
export const OURS_WITH_HPA = "oaas with HPA";

export const COMPETITORS: readonly Competitor[] = [
  { name: OURS, create: (workload) => ours(workload) },
  { name: OURS_WITH_HPA, create: (workload) => withReactiveLayer(workload, hpa, oursAsMinimum) },
  { name: "oaas with KPA", create: (workload) => withReactiveLayer(workload, kpa, oursAsMinimum) },
  { name: "HPA 80 %", create: (workload) => hpa(workload, 80) },
  { name: "HPA 70 %", create: (workload) => hpa(workload, 70) },
  { name: "KPA", create: kpa },
];
