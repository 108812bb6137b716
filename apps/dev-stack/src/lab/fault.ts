import { invalidArgument, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";

/** The faults that can be injected. */
export const STACK_FAULTS = [
  "cluster-down",
  "crm-killed",
  "partition",
  "node-lost",
  "load-spike",
  "pm-killed",
] as const;

export type StackFaultKind = (typeof STACK_FAULTS)[number];

/** An injected fault; `pm-killed` has no cluster. */
export interface StackFault {
  readonly fault: StackFaultKind;
  readonly cluster?: string;
}

/** Parses a fault to inject or to remove. Throws with all violations. */
export function parseFault(body: unknown, clusters: readonly string[]): StackFault {
  const { fault, cluster } = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const violations: Violation[] = [];
  const kind = STACK_FAULTS.find((known) => known === fault);
  if (kind === undefined) {
    violations.push({
      path: pathOf(ROOT_PATH, "fault"),
      message: "is not a known fault",
      fix: `use one of ${STACK_FAULTS.join(", ")}`,
    });
  }
  const isKnown = typeof cluster === "string" && clusters.includes(cluster);
  if (kind !== "pm-killed" && !isKnown) {
    violations.push({
      path: pathOf(ROOT_PATH, "cluster"),
      message: "is not a cluster of this stack",
      fix: clusters.length === 0 ? "start the stack with clusters" : `use one of ${clusters.join(", ")}`,
    });
  }
  if (violations.length > 0 || kind === undefined) throw invalidArgument("the fault", violations);
  return kind === "pm-killed" || !isKnown ? { fault: kind } : { fault: kind, cluster };
}
