import type { Clock } from "@oaas/foundation";
import type { KubeClient } from "@oaas/kube-runtime";
import { KubeClassDirectory, type ClassInformer } from "./kube-directory.ts";
import { KubeClassStore } from "./kube-store.ts";
import type { ClassDirectory, ClassStore } from "./ports.ts";

/** Directory and store over one cluster: what the store writes, the directory shows at once. */
export function kubeClasses(
  client: KubeClient,
  informers: readonly ClassInformer[],
  clock: Clock,
): { readonly directory: ClassDirectory; readonly store: ClassStore } {
  const directory = new KubeClassDirectory(informers, clock);
  return { directory, store: new KubeClassStore(client, (object) => directory.noteWritten(object)) };
}

export { kubeClusterReader } from "../grpc/cluster/kube-cluster-reader.ts";
export { whereAllowed } from "./kube-directory.ts";
