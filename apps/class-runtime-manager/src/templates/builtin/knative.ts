import { whyNoKnative } from "../../rendering/model/cluster-facts.ts";
import { STANDARD_POLICY } from "../../rendering/plan/policy.ts";
import { knativeRenderer } from "../../rendering/workloads/knative-service.ts";
import { builtinTemplate } from "./builtin-template.ts";
import { nfrPoints, notEligible, scoreOf, siteOf } from "../selection/score.ts";

/** Knative Services: replicas follow the requests and scale to zero unless a minimum is stated. */
export const knativeTemplate = builtinTemplate({
  policy: { ...STANDARD_POLICY, id: "knative", replicas: 0, defaultPort: 8080 },
  workload: knativeRenderer,
  score(input) {
    const missing = whyNoKnative(input.cluster);
    if (missing !== undefined) return notEligible(missing);
    const { profile, isEdge, isDatacenter, source } = siteOf(input);
    const place = isDatacenter || profile === "full" ? 900_000 : isEdge || profile === "edge" ? 600_000 : 100_000;
    return scoreOf(
      [place, `suitable for ${source}`],
      ...nfrPoints(input, { throughputRps: { at: 500, points: 2 }, latencyMs: { at: 100, points: 2 } }),
    );
  },
});
