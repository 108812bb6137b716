import { keyOf, type KubeObject } from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import { CLASS_RUNTIMES, DEPLOYMENT_RECORDS } from "../controller/kinds/resource-types.ts";
import type { StoredClass } from "./ports.ts";

/** Sets or removes an annotation of this version of a class. Throws a conflict fault if the class changed since. */
export async function annotateClass(
  client: KubeClient,
  object: StoredClass,
  annotation: { readonly name: string; readonly value: string | null },
  signal: AbortSignal,
): Promise<void> {
  const { resourceVersion } = object.metadata;
  const patch = { metadata: { resourceVersion, annotations: { [annotation.name]: annotation.value } } };
  const type = object.storedAs === "DeploymentRecord" ? DEPLOYMENT_RECORDS : CLASS_RUNTIMES;
  await client.resource<KubeObject>(type).patch(keyOf(object), "merge", patch, { signal });
}
