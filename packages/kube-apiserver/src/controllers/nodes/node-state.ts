import { ANNOTATIONS } from "../failures/failure.ts";
import { conditionIn } from "../objects/conditions.ts";
import type { Node, Taint, Toleration } from "../objects/typed.ts";

/** Whether its kubelet is marked as unreachable. */
export function isLost({ metadata }: Node): boolean {
  return metadata.annotations?.[ANNOTATIONS.lost] === "true";
}

export function isNodeReady({ status }: Node): boolean {
  return conditionIn(status?.conditions, "Ready")?.status === "True";
}

/** Whether its kubelet acts. */
export function isNodeReachable(node: Node): boolean {
  return isNodeReady(node) && !isLost(node) && node.metadata.deletionTimestamp === undefined;
}

export function tolerates(tolerations: readonly Toleration[] | undefined, taint: Taint): Toleration | undefined {
  return tolerations?.find((toleration) => {
    const { key, operator = "Equal", value = "", effect } = toleration;
    if (effect !== undefined && effect !== "" && effect !== taint.effect) return false;
    if (key === undefined || key === "") return operator === "Exists";
    if (key !== taint.key) return false;
    return operator === "Exists" || value === (taint.value ?? "");
  });
}
