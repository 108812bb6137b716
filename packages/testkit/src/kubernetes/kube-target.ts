import { Fault, invalidArgument } from "@oaas/foundation";
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
  if (target === "real") return startKubernetes(options);
  throw new Fault(
    { kind: "unimplemented", feature: "KUBE_TARGET=embedded" },
    "the embedded API server is not part of this build yet; use KUBE_TARGET=real",
  );
}
