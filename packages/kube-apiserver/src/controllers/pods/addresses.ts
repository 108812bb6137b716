import type { Stored } from "@oaas/kube-core";
import type { ClusterView } from "../objects/cluster-view.ts";
import { PODS } from "../objects/resources.ts";
import type { Node, Pod } from "../objects/typed.ts";

/** The range for pods of nodes without a range. */
const COMMON_RANGE = "10.250.0.0/16";

/** The node's address, shared by its pods with hostNetwork. */
export function hostAddress({ status }: Node): string {
  return status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "127.0.0.1";
}

/** The lowest free address of the node's range. */
export function allocateAddress(pod: Stored<Pod>, node: Stored<Node>, view: ClusterView): string {
  if (pod.spec?.hostNetwork === true) return hostAddress(node);
  const allocated = new Set(view.list<Pod>(PODS).map(({ status }) => status?.podIP));
  return findFreeAddress(node.spec?.podCIDR ?? COMMON_RANGE, allocated);
}

/** Network, gateway and broadcast addresses are reserved. */
export function findFreeAddress(range: string, allocated: ReadonlySet<string | undefined>): string {
  const [base = "10.250.0.0", bits = "16"] = range.split("/");
  const start = base.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  for (let offset = 2; offset < size - 1; offset += 1) {
    const address = formatAddress(start + offset);
    if (!allocated.has(address)) return address;
  }
  return formatAddress(start + 1);
}

function formatAddress(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}
