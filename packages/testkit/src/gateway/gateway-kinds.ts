import { join } from "node:path";
import { componentFile, type Kubectl } from "@oaas/real-components";
import { fileArgs, runKubectl } from "../knative/knative-kinds.ts";

/** Installs the CRDs of Gateway and HTTPRoute, without a controller, and waits until they are served. */
export async function addGatewayKinds(kubectl: Kubectl): Promise<void> {
  const kinds = ["gateways", "httproutes"];
  const files = fileArgs(
    kinds.map((kind) => join(componentFile("gateway-api-crds"), `gateway.networking.k8s.io_${kind}.yaml`)),
  );
  await runKubectl(kubectl, ["apply", "--server-side", ...files]);
  await runKubectl(kubectl, ["wait", "--for=create", "--for=condition=Established", "--timeout=60s", ...files]);
  // As for Knative: an API server that has not read a kind yet may fail to delete its CRD.
  for (const kind of kinds) await runKubectl(kubectl, ["get", "--raw", `/apis/gateway.networking.k8s.io/v1/${kind}`]);
}
