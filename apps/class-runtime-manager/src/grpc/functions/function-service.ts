import type { KubeObject } from "@oaas/kube-core";
import { resourceType, type KubeClient } from "@oaas/kube-runtime";
import { FUNCTION_LABEL, HEADLESS_LABEL, labelValue, OWNER_LABEL, ownerLabelValue } from "../../templates/index.ts";
import type { StoredClass } from "../../classes/ports.ts";
import type { FunctionService } from "./invoke-function.ts";

interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly ports?: readonly { readonly name?: string; readonly port: number }[];
  };
}

const SERVICES = resourceType<Service>({
  group: "",
  version: "v1",
  kind: "Service",
  resource: "services",
  namespaced: true,
});

/** Finds the Service of a function by its labels; one with an address of its own before a headless one. */
export async function findFunctionService(
  client: KubeClient,
  { metadata }: StoredClass,
  functionKey: string,
  signal: AbortSignal,
): Promise<FunctionService | undefined> {
  const labelSelector = `${OWNER_LABEL}=${ownerLabelValue(metadata.name ?? "")},${FUNCTION_LABEL}=${labelValue(functionKey)}`;
  const page = await client
    .resource(SERVICES)
    .list({ namespace: metadata.namespace ?? "", labelSelector, limit: 10 }, { signal });
  const [service] = page.items
    .filter(({ spec }) => spec?.type !== "ExternalName")
    .toSorted((a, b) => headlessRank(a) - headlessRank(b));
  const port = service?.spec?.ports?.[0];
  return service && port && { name: service.metadata.name ?? "", port: port.name ?? String(port.port) };
}

function headlessRank({ metadata }: Service): number {
  return metadata.labels?.[HEADLESS_LABEL] === undefined ? 0 : 1;
}
