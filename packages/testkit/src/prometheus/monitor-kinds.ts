import { join } from "node:path";
import { componentFile, type Kubectl } from "@oaas/real-components";
import { fileArgs, runKubectl } from "../knative/knative-kinds.ts";

/** The CRD files of ServiceMonitor and PodMonitor. */
function monitorCrdFiles(): string[] {
  return ["servicemonitors", "podmonitors"].map((kind) =>
    join(componentFile("prometheus-operator-crds"), `monitoring.coreos.com_${kind}.yaml`),
  );
}

/** Installs the CRDs of the Prometheus operator's monitors and waits until they are served. */
export async function addMonitorKinds(kubectl: Kubectl): Promise<void> {
  const files = fileArgs(monitorCrdFiles());
  await runKubectl(kubectl, ["apply", "--server-side", ...files]);
  await runKubectl(kubectl, ["wait", "--for=create", "--for=condition=Established", "--timeout=60s", ...files]);
  // As for Knative: an API server that has not read a kind yet may fail to delete its CRD.
  for (const kind of ["servicemonitors", "podmonitors"]) {
    await runKubectl(kubectl, ["get", "--raw", `/apis/monitoring.coreos.com/v1/${kind}`]);
  }
}

/** Deletes the CRDs of the monitors and all their objects. */
export async function removeMonitorKinds(kubectl: Kubectl): Promise<void> {
  await runKubectl(kubectl, ["delete", "--ignore-not-found", "--timeout=150s", ...fileArgs(monitorCrdFiles())]);
}
