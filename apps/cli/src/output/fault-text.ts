import type { PlanRefusalWire } from "@oaas/contracts/rest";
import type { Fault, FaultEvidence } from "@oaas/foundation";
import type { Colours } from "./colours.ts";

/** What to do about a fault when the fault itself does not say. */
const REMEDIES: Readonly<Partial<Record<Fault["kind"], string>>> = {
  unauthenticated: "log in with: oaas login",
  "permission-denied": "ask for a token with a higher role, and log in with it",
  unavailable: "check that the package manager runs and that the context is right: oaas doctor",
  "deadline-exceeded": "it may still be going on; look with: oaas deployment status KEY",
  conflict: "read it again and repeat the command",
};

export interface FaultTextOptions {
  /** Where a JSONPath stands for the reader. */
  readonly placed?: (path: string) => string;
  /** What to do, when the caller knows better than what is said of all faults of the kind. */
  readonly remedy?: string | undefined;
}

/** A fault for a person: what, where exactly, what to do, and by which id the log knows it. */
export function faultText(
  fault: Fault,
  colours: Colours,
  { placed = (path) => path, remedy = REMEDIES[fault.kind] }: FaultTextOptions = {},
): string {
  const lines = [`${colours.bad("error:")} ${headOf(fault)}`];
  for (const { path, message, fix } of fault.violations) {
    lines.push(`  ${placed(path)}: ${message}${fix === undefined ? "" : `; ${fix}`}`);
  }
  if (fault.detail.kind === "partial-failure") {
    for (const { name, fault: part } of fault.detail.parts) lines.push(`  ${name}: ${part.message}`);
  }
  lines.push(...clusterLines(fault.evidence));
  if (remedy !== undefined) lines.push(colours.dim(`  try: ${remedy}`));
  const id = fault.correlationId === undefined ? "" : `, request ${fault.correlationId}`;
  lines.push(colours.dim(`  ${fault.code}${id}`));
  return lines.map((line) => `${line}\n`).join("");
}

/** What was found out about each cluster for a plan that was refused. */
function clusterLines(evidence: FaultEvidence | undefined): string[] {
  const { clusters = [] } = (evidence ?? {}) as Partial<PlanRefusalWire>;
  return clusters.map(
    ({ cluster, reasons_for, reasons_against }) => `  ${cluster}: ${[...reasons_against, ...reasons_for].join("; ")}`,
  );
}

/** What went wrong, without the violations that a message repeats: they follow, each with its place. */
function headOf({ message, violations }: Fault): string {
  return violations.length === 0 ? message : message.replace(/: \$.*$/s, "");
}
