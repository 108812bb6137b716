import { refOf, type KubeObject } from "@oaas/kube-core";
import { compareText } from "../observation/observed-objects.ts";
import { finding, type Finding } from "./finding.ts";

/** Finalizers of Kubernetes that order a deletion and are removed automatically. */
const KUBERNETES_FINALIZERS = new Set(["foregroundDeletion", "orphan"]);

/** Time that other finalizers may take; those of volumes and load balancers need some seconds. */
const BLOCKED_AFTER_MS = 60_000;

/** Children whose finalizers block the deletion, and when to check the others again. */
export function findBlockedChildren(
  children: readonly KubeObject[],
  nowMs: number,
): { readonly findings: readonly Finding[]; readonly recheckAtMs?: number } {
  const held = children
    .flatMap((child) => {
      const sinceMs = Date.parse(child.metadata.deletionTimestamp ?? "");
      return Number.isNaN(sinceMs) || foreignFinalizers(child).length === 0
        ? []
        : [{ child, overMs: sinceMs + BLOCKED_AFTER_MS }];
    })
    .sort((a, b) => compareText(nameOf(a.child), nameOf(b.child)));
  const soonMs = Math.min(...held.map(({ overMs }) => overMs).filter((overMs) => overMs > nowMs));
  return {
    findings: held
      .filter(({ overMs }) => overMs <= nowMs)
      .map(({ child }) =>
        finding("DeletionBlocked", refOf(child), `is blocked by finalizer ${foreignFinalizers(child).join(", ")}`, {
          since: child.metadata.deletionTimestamp,
        }),
      ),
    ...(Number.isFinite(soonMs) ? { recheckAtMs: soonMs } : {}),
  };
}

function foreignFinalizers({ metadata }: KubeObject): readonly string[] {
  return (metadata.finalizers ?? []).filter((finalizer) => !KUBERNETES_FINALIZERS.has(finalizer));
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name ?? ""}`;
}
