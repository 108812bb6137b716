import { invalidArgument } from "@oaas/foundation";
import { startEmbeddedKubernetes } from "./start-embedded.ts";
import { startKubernetes, type KubernetesOptions, type KubernetesUnderTest } from "./start-kubernetes.ts";

export type KubeTarget = "real" | "embedded";

/** Which API server the suites written for both run against: KUBE_TARGET, by default the real one. */
export function kubeTarget(value = process.env["KUBE_TARGET"]): KubeTarget {
  if (value === undefined || value === "" || value === "real") return "real";
  if (value === "embedded") return "embedded";
  throw invalidArgument("KUBE_TARGET", [{ path: "$", message: `must be "real" or "embedded", not "${value}"` }]);
}

/** Starts a cluster of the chosen kind. */
export async function startKubeTarget(
  options: KubernetesOptions = {},
  target: KubeTarget = kubeTarget(),
): Promise<KubernetesUnderTest> {
  return target === "real" ? startKubernetes(options) : startEmbeddedKubernetes(options);
}
