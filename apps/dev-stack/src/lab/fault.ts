import { invalidArgument, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";

/** What the lab can break on command. */
export const STACK_FAULTS = ["cluster-down", "crm-killed", "partition", "node-lost", "pm-killed"] as const;

export type StackFaultKind = (typeof STACK_FAULTS)[number];

/** Something that is broken on purpose; `pm-killed` concerns no cluster. */
export interface StackFault {
  readonly fault: StackFaultKind;
  readonly cluster?: string;
}

/** Reads what somebody asks to break or to mend. Throws with every mistake. */
export function parseFault(body: unknown, clusters: readonly string[]): StackFault {
  const { fault, cluster } = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const violations: Violation[] = [];
  const kind = STACK_FAULTS.find((known) => known === fault);
  if (kind === undefined) {
    violations.push({
      path: pathOf(ROOT_PATH, "fault"),
      message: "is no fault of the lab",
      fix: `use one of ${STACK_FAULTS.join(", ")}`,
    });
  }
  const isKnown = typeof cluster === "string" && clusters.includes(cluster);
  if (kind !== "pm-killed" && !isKnown) {
    violations.push({
      path: pathOf(ROOT_PATH, "cluster"),
      message: "is no cluster of this stack",
      fix: clusters.length === 0 ? "start the stack with clusters" : `use one of ${clusters.join(", ")}`,
    });
  }
  if (violations.length > 0 || kind === undefined) throw invalidArgument("the fault", violations);
  return kind === "pm-killed" || !isKnown ? { fault: kind } : { fault: kind, cluster };
}
