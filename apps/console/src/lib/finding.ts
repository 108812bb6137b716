import type { Finding } from "../api/contract.ts";

export interface FlatFinding {
  readonly depth: number;
  readonly finding: Finding;
}

/** The findings of one cluster in reading order; healthy branches are left out when something is wrong. */
export function flattenFinding(finding: Finding, onlyProblems: boolean, depth = 0): readonly FlatFinding[] {
  const causes = onlyProblems ? finding.causes.filter((cause) => !isHealthy(cause)) : finding.causes;
  return [{ depth, finding }, ...causes.flatMap((cause) => flattenFinding(cause, onlyProblems, depth + 1))];
}

export function isHealthy(finding: Finding): boolean {
  return finding.verdict === "healthy" && finding.causes.every((cause) => isHealthy(cause));
}
