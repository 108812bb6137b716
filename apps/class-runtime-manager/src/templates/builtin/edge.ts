import { STANDARD_POLICY } from "../../rendering/plan/policy.ts";
import { deploymentRenderer } from "../../rendering/workloads/deployment.ts";
import { builtinTemplate } from "./builtin-template.ts";
import { nfrPoints, scoreOf, siteOf } from "../selection/score.ts";

/** Two small replicas, spread when possible, tolerant of nodes that disconnect. */
export const edgeTemplate = builtinTemplate({
  policy: {
    ...STANDARD_POLICY,
    id: "edge",
    replicas: 2,
    resources: { cpu_request: "100m", memory_request: "128Mi", cpu_limit: "500m", memory_limit: "512Mi" },
    odgmResources: { cpu_request: "100m", memory_request: "256Mi", cpu_limit: "500m", memory_limit: "512Mi" },
    spread: "preferred",
    // Edge nodes have little spare capacity: a rollout replaces pods instead of adding one, unless there is only one.
    rollingUpdate: { maxSurge: 0, maxUnavailable: 1 },
    scaleDownWindowSeconds: 600,
    nodeLossTolerationSeconds: 900,
  },
  workload: deploymentRenderer,
  score(input) {
    const { profile, isEdge, source } = siteOf(input);
    const isEdgeSite = profile === "edge" || isEdge;
    return scoreOf(
      isEdgeSite ? [1_000_000, `designed for ${source}`] : undefined,
      ...nfrPoints(input, {
        throughputRps: { at: 300, points: 2 },
        latencyMs: { at: 150, points: 2 },
        availability: { at: 0.999, points: 1 },
      }),
    );
  },
});
