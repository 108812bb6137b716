import { STANDARD_POLICY } from "../../rendering/plan/policy.ts";
import { jobRenderer } from "../../rendering/workloads/job.ts";
import { builtinTemplate } from "./builtin-template.ts";
import { scoreOf } from "../selection/score.ts";

/** Functions that run to completion. */
export const jobTemplate = builtinTemplate({
  policy: { ...STANDARD_POLICY, id: "job", drainSeconds: 0, probes: { liveness: false, startup: false } },
  workload: jobRenderer,
  byNameOnly: true,
  score: () => scoreOf([0, "selected only by name"]),
});
