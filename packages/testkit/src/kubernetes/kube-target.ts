import { invalidArgument } from "@oaas/foundation";
import { startEmbeddedKubernetes } from "./start-embedded.ts";
import { startKubernetes, type KubernetesOptions, type KubernetesUnderTest } from "./start-kubernetes.ts";

export type KubeTarget = "real" | "embedded";

/** The API server for suites that support both: KUBE_TARGET, real by default. */
export function kubeTarget(value = process.env["KUBE_TARGET"]): KubeTarget {
  if (value === undefined || value === "" || value === "real") return "real";
  if (value === "embedded") return "embedded";
  throw invalidArgument("KUBE_TARGET", [{ path: "$", message: `must be "real" or "embedded", not "${value}"` }]);
}

export async function startKubeTarget(
  options: KubernetesOptions = {},
  target: KubeTarget = kubeTarget(),
): Promise<KubernetesUnderTest> {
  return target === "real" ? startKubernetes(options) : startEmbeddedKubernetes(options);
}
