import { readdirSync } from "node:fs";
import { join } from "node:path";
import { componentFile, type Kubectl } from "@oaas/real-components";
import { fileArgs, runKubectl } from "../knative/knative-kinds.ts";

/** The CRD file of ScaledObject. */
function scaledObjectFile(): string {
  return join(componentFile("keda-crds"), "keda.sh_scaledobjects.yaml");
}

/** Installs the CRD of KEDA's ScaledObject without its operator and waits until it is served. */
export async function addScaledObjectKind(kubectl: Kubectl): Promise<void> {
  await addKinds(kubectl, [scaledObjectFile()]);
}

/** Deletes the CRD of ScaledObject and all its objects. */
export async function removeScaledObjectKind(kubectl: Kubectl): Promise<void> {
  await runKubectl(kubectl, ["delete", "--ignore-not-found", "--timeout=150s", ...fileArgs([scaledObjectFile()])]);
}

/** Installs all CRDs of KEDA; its operator watches each of them. */
export async function addKedaKinds(kubectl: Kubectl): Promise<void> {
  await addKinds(kubectl, allFiles());
}

/** Deletes all CRDs of KEDA and their objects. */
export async function removeKedaKinds(kubectl: Kubectl): Promise<void> {
  await runKubectl(kubectl, ["delete", "--ignore-not-found", "--timeout=150s", ...fileArgs(allFiles())]);
}

function allFiles(): string[] {
  const folder = componentFile("keda-crds");
  return readdirSync(folder)
    .sort()
    .map((file) => join(folder, file));
}

async function addKinds(kubectl: Kubectl, crdFiles: readonly string[]): Promise<void> {
  const files = fileArgs(crdFiles);
  await runKubectl(kubectl, ["apply", "--server-side", ...files]);
  await runKubectl(kubectl, ["wait", "--for=create", "--for=condition=Established", "--timeout=60s", ...files]);
  // As for Knative: an API server that has not read a kind yet may fail to delete its CRD.
  await runKubectl(kubectl, ["get", "--raw", "/apis/keda.sh/v1alpha1/scaledobjects"]);
}
