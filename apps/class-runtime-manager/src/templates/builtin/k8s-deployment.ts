import { STANDARD_POLICY } from "../../rendering/plan/policy.ts";
import { deploymentRenderer } from "../../rendering/workloads/deployment.ts";
import { builtinTemplate } from "./builtin-template.ts";
import { nfrPoints, scoreOf, siteOf } from "../selection/score.ts";

/** A Deployment with the settings of the function and the defaults of Kubernetes. */
export const k8sDeploymentTemplate = builtinTemplate({
  policy: { ...STANDARD_POLICY, id: "k8s_deployment" },
  workload: deploymentRenderer,
  score(input) {
    const { isDatacenter, source } = siteOf(input);
    return scoreOf(
      isDatacenter ? [600_000, `suitable for a datacenter (${source})`] : undefined,
      ...nfrPoints(input, {
        throughputRps: { at: 1500, points: 3 },
        latencyMs: { at: 50, points: 3 },
        availability: { at: 0.9995, points: 2 },
        strong: 2,
      }),
    );
  },
});
