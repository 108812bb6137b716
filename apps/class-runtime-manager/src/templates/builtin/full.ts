import { STANDARD_POLICY } from "../../rendering/plan/policy.ts";
import { deploymentRenderer } from "../../rendering/workloads/deployment.ts";
import { builtinTemplate } from "./builtin-template.ts";
import { nfrPoints, scoreOf, siteOf } from "../selection/score.ts";

/** Three replicas that survive a drain, a lost node and a failed rollout: for production. */
export const fullTemplate = builtinTemplate({
  policy: {
    ...STANDARD_POLICY,
    id: "full",
    replicas: 3,
    odgmReplicas: 3,
    resources: { cpu_request: "200m", memory_request: "256Mi", cpu_limit: "1", memory_limit: "1Gi" },
    probes: { liveness: true, startup: true },
    spread: "preferred",
    odgmSpread: "even",
    disruptionBudget: true,
    rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 },
    minReadySeconds: 5,
    terminationGraceSeconds: 60,
  },
  workload: deploymentRenderer,
  score(input) {
    const { profile, source } = siteOf(input);
    return scoreOf(
      profile === "full" ? [800_000, `designed for ${source}`] : undefined,
      ...nfrPoints(input, {
        throughputRps: { at: 1500, points: 3 },
        latencyMs: { at: 50, points: 3 },
        availability: { at: 0.9995, points: 2 },
        strong: 2,
      }),
    );
  },
});
