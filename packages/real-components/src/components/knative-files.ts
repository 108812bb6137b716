import type { ModuleFiles } from "./component.ts";

const yamlIn = (folder: string, ...names: readonly string[]): string[] => names.map((name) => `${folder}/${name}.yaml`);

/** The manifests of a Knative Serving installation: CRDs, settings, webhooks and the activator. */
export const KNATIVE_FILES: readonly ModuleFiles[] = [
  {
    module: "knative.dev/serving",
    files: [
      ...yamlIn("config/core", "100-namespace"),
      ...yamlIn("config/core/300-resources", "configuration", "domain-mapping", "metric", "podautoscaler"),
      ...yamlIn("config/core/300-resources", "revision", "route", "service"),
      ...yamlIn("config/core/configmaps", "autoscaler", "certmanager", "defaults", "deployment", "domain", "features"),
      ...yamlIn("config/core/configmaps", "gc", "leader-election", "logging", "observability", "tracing"),
      ...yamlIn("config/core/deployments", "activator"),
      ...yamlIn("config/core/webhooks", "configmap-validation", "defaulting", "resource-validation", "secret"),
    ],
  },
  {
    module: "knative.dev/networking",
    files: yamlIn("config", "certificate", "config-network", "domain-claim", "ingress", "serverlessservice"),
  },
  { module: "knative.dev/caching", files: yamlIn("config", "image") },
];
