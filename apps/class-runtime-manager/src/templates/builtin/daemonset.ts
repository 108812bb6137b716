import { STANDARD_POLICY } from "../../rendering/plan/policy.ts";
import { daemonSetRenderer } from "../../rendering/workloads/daemon-set.ts";
import { builtinTemplate } from "./builtin-template.ts";
import { scoreOf } from "../selection/score.ts";

/** One pod on every node of the environment. */
export const daemonSetTemplate = builtinTemplate({
  policy: { ...STANDARD_POLICY, id: "daemonset" },
  workload: daemonSetRenderer,
  byNameOnly: true,
  score: () => scoreOf([0, "selected only by name"]),
});
