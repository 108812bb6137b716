import type { JsonValue } from "@oaas/kube-core";
import type { Operation } from "./operations.ts";

/** A difference of docs/apiserver-differences.md that random sequences come upon, and how it is told from any other. */
interface Explanation {
  readonly id: string;
  explains(operation: Operation | undefined, real: JsonValue, embedded: JsonValue): boolean;
}

export const EXPLANATIONS: readonly Explanation[] = [];

/** The listed difference that this is, if it is one. */
export function explanationOf(
  operation: Operation | undefined,
  real: JsonValue,
  embedded: JsonValue,
): string | undefined {
  return EXPLANATIONS.find(({ explains }) => explains(operation, real, embedded))?.id;
}
