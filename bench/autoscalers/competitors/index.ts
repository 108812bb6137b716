import type { Competitor } from "../league.ts";
import { hpa } from "./hpa.ts";
import { kpa } from "./kpa.ts";
import { ours } from "./ours.ts";
import { withReactiveLayer } from "./reactive-layer.ts";

export const OURS = "oaas";

export const COMPETITORS: readonly Competitor[] = [
  { name: OURS, create: (workload) => ours(workload) },
  { name: "oaas with HPA", create: (workload) => withReactiveLayer(workload, hpa, ours) },
  { name: "oaas with KPA", create: (workload) => withReactiveLayer(workload, kpa, ours) },
  { name: "HPA 80 %", create: (workload) => hpa(workload, 80) },
  { name: "HPA 70 %", create: (workload) => hpa(workload, 70) },
  { name: "KPA", create: kpa },
];
