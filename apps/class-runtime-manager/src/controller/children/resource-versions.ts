import type { KubeObject, Stored } from "@oaas/kube-core";

/** Whether one version of an object is newer. Resource versions are increasing numbers; other texts are not compared. */
export function isNewer(one: Stored<KubeObject>, other: Stored<KubeObject>): boolean {
  const [a, b] = [one.metadata.resourceVersion, other.metadata.resourceVersion];
  return /^\d+$/.test(a) && /^\d+$/.test(b) && BigInt(a) > BigInt(b);
}
