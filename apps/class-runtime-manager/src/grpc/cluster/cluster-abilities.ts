import type { ClusterFacts } from "../../rendering/model/cluster-facts.ts";
import { BUILTIN_TEMPLATES } from "../../templates/builtin/registry.ts";

/** Lists the features that are enabled and available in the cluster: odgm, knative, hpa, prometheus. */
export function capabilityNames({
  features,
  capabilities,
}: Pick<ClusterFacts, "features" | "capabilities">): readonly string[] {
  const usable = {
    odgm: features.odgm,
    knative: features.knative && capabilities.knative,
    hpa: features.hpa && capabilities.horizontalPodAutoscaler,
    prometheus: features.prometheus && (capabilities.serviceMonitor || capabilities.podMonitor),
  };
  return Object.entries(usable).flatMap(([name, is]) => (is ? [name] : []));
}

/** Every name that `selected_template` may take: built-in ones with their other names, then those of users. */
export function templateNames(ofUsers: Iterable<string>): readonly string[] {
  return [...new Set([...BUILTIN_TEMPLATES.flatMap(({ id, aliases }) => [id, ...aliases]), ...ofUsers])];
}
