import { STANDARD_POLICY } from "../../rendering/plan/policy.ts";
import { statefulSetRenderer } from "../../rendering/workloads/stateful-set.ts";
import { builtinTemplate } from "./builtin-template.ts";
import { scoreOf } from "../selection/score.ts";

/** Replicas with stable names and their own volumes. */
export const statefulSetTemplate = builtinTemplate({
  policy: {
    ...STANDARD_POLICY,
    id: "statefulset",
    spread: "preferred",
    disruptionBudget: true,
    terminationGraceSeconds: 60,
  },
  workload: statefulSetRenderer,
  byNameOnly: true,
  score: () => scoreOf([0, "selected only by name"]),
});
