import { equalJson, isJsonObject, type JsonValue } from "@oaas/kube-core";
import { at } from "../src/json-path.ts";
import type { Operation } from "./operations.ts";

/** A difference of docs/apiserver-differences.md that random sequences come upon, and how it is told from any other. */
interface Explanation {
  readonly id: string;
  explains(operation: Operation | undefined, real: JsonValue, embedded: JsonValue): boolean;
}

const EXPLANATIONS: readonly Explanation[] = [
  {
    id: "apply-schema-words",
    explains: (_, real, embedded) =>
      sameCode(real, embedded) &&
      both(real, embedded, "body.message", (text) => text.startsWith("failed to create typed patch object")),
  },
  {
    id: "pod-warnings",
    explains: (_, real, embedded) => equalJson(withoutWarnings(real), withoutWarnings(embedded)),
  },
];

/** The listed difference that this is, if it is one. */
export function explanationOf(
  operation: Operation | undefined,
  real: JsonValue,
  embedded: JsonValue,
): string | undefined {
  return EXPLANATIONS.find((candidate) => candidate.explains(operation, real, embedded))?.id;
}

function sameCode(real: JsonValue, embedded: JsonValue): boolean {
  return at(real, "code") === at(embedded, "code");
}

function both(real: JsonValue, embedded: JsonValue, path: string, is: (text: string) => boolean): boolean {
  return [real, embedded].every((answer) => {
    const text = at(answer, path);
    return typeof text === "string" && is(text);
  });
}

function withoutWarnings(answer: JsonValue): JsonValue {
  if (!isJsonObject(answer)) return answer;
  const { warnings: _warnings, ...rest } = answer;
  return rest;
}
