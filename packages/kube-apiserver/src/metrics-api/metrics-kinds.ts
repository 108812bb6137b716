import { createKindRules } from "../kinds/create-kind-rules.ts";
import type { Kind } from "../kinds/kind.ts";

export const METRICS_GROUP = "metrics.k8s.io";
export const METRICS_VERSION = "v1beta1";

/** The kinds of the metrics API, for discovery: they are computed for each request and never stored. */
export const METRICS_KINDS: readonly Kind[] = [metricsKind("NodeMetrics", "nodes"), metricsKind("PodMetrics", "pods")];

function metricsKind(kind: "NodeMetrics" | "PodMetrics", resource: "nodes" | "pods"): Kind {
  return {
    group: METRICS_GROUP,
    kind,
    listKind: `${kind}List`,
    resource,
    singular: "",
    shortNames: [],
    categories: [],
    isNamespaced: resource === "pods",
    verbs: ["get", "list"],
    versions: [
      {
        name: METRICS_VERSION,
        isServed: true,
        schema: {},
        hasStatus: false,
        subresources: [],
        selectableFields: [],
        columns: [],
      },
    ],
    storageVersion: METRICS_VERSION,
    isVirtual: true,
    rules: createKindRules({}),
  };
}
