import type { PlanRefusalWire } from "@oaas/contracts/rest";
import { invalidArgumentMessage, type Fault, type FaultEvidence } from "@oaas/foundation";
import type { Colours } from "./colours.ts";

/** The default hint for each kind of fault. */
const HINTS: Readonly<Partial<Record<Fault["kind"], string>>> = {
  unauthenticated: "log in: oaas login",
  "permission-denied": "log in with a token that has a higher role: oaas login",
  unavailable: "check the context and the package manager: oaas doctor",
  "deadline-exceeded": "the operation may still be running; check with: oaas deployment status KEY",
  conflict: "the object was changed concurrently; repeat the command",
};

export interface FaultTextOptions {
  /** Formats the location of a JSONPath. */
  readonly locate?: (path: string) => string;
  /** Replaces the default hint. */
  readonly hint?: string | undefined;
}

/** Formats a fault: message, violations, hint, code and correlation id. */
export function faultText(
  fault: Fault,
  colours: Colours,
  { locate = (path) => path, hint = HINTS[fault.kind] }: FaultTextOptions = {},
): string {
  const lines = [`${colours.bad("error:")} ${summaryOf(fault)}`];
  for (const { path, message, fix } of fault.violations) {
    lines.push(`  ${locate(path)}: ${message}${fix === undefined ? "" : `; ${fix}`}`);
  }
  if (fault.detail.kind === "partial-failure") {
    for (const { name, fault: part } of fault.detail.parts) lines.push(`  ${name}: ${part.message}`);
  }
  lines.push(...clusterLines(fault.evidence));
  if (hint !== undefined) lines.push(colours.dim(`  hint: ${hint}`));
  const id = fault.correlationId === undefined ? "" : `, request ${fault.correlationId}`;
  lines.push(colours.dim(`  ${fault.code}${id}`));
  return lines.map((line) => `${line}\n`).join("");
}

/** The reasons per cluster of a rejected plan. */
function clusterLines(evidence: FaultEvidence | undefined): string[] {
  const { clusters = [] } = (evidence ?? {}) as Partial<PlanRefusalWire>;
  return clusters.map(
    ({ cluster, reasons_for, reasons_against }) => `  ${cluster}: ${[...reasons_against, ...reasons_for].join("; ")}`,
  );
}

/** The message without the violations that it repeats; they follow as own lines. */
function summaryOf({ detail, message }: Fault): string {
  if (detail.kind !== "invalid-argument" || detail.subject === undefined) return message;
  return invalidArgumentMessage(detail.subject, []);
}
