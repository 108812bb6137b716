import { STANDARD_POLICY } from "../../rendering/plan/policy.ts";
import { deploymentRenderer } from "../../rendering/workloads/deployment.ts";
import { builtinTemplate } from "./builtin-template.ts";
import { scoreOf, siteOf } from "../selection/score.ts";

/** One small replica of everything, with fast updates: for a single development node. */
export const devTemplate = builtinTemplate({
  policy: {
    ...STANDARD_POLICY,
    id: "dev",
    resources: { cpu_request: "50m", memory_request: "64Mi", cpu_limit: "500m", memory_limit: "256Mi" },
    odgmResources: { cpu_request: "50m", memory_request: "128Mi", cpu_limit: "500m", memory_limit: "512Mi" },
    probes: { liveness: false, startup: false },
    odgmSpread: "none",
    // A single node may have no room for more pods during a rollout. A single pod is replaced without a gap.
    rollingUpdate: { maxSurge: 0, maxUnavailable: 1 },
    terminationGraceSeconds: 5,
    drainSeconds: 3,
  },
  workload: deploymentRenderer,
  score(input) {
    const { profile, isEdge, source } = siteOf(input);
    if (profile === "dev") return scoreOf([1_000_000, `designed for ${source}`]);
    return isEdge ? scoreOf([10, "small enough for edge clusters"]) : scoreOf([-10, `not designed for ${source}`]);
  },
});
