import { faultStatusCode, grpcStatusName } from "@oaas/contracts/grpc";
import { faultStatus, HTTP_ERRORS, HTTP_STATUS_OF_CODE } from "@oaas/contracts/rest";
import { FAULT_CODES, Fault, type FaultDetail, type FaultKind } from "@oaas/foundation";
import type { Generator } from "../generator.ts";
import { table } from "./markdown.ts";

/** The reference page of errors, from the catalogue of codes and the two tables of statuses. */
export const generator: Generator = {
  name: "errors-reference",
  async produce() {
    return new Map([["docs/reference/errors.md", errorsPage()]]);
  },
};

/** One fault of each kind, to look up its statuses. */
const SAMPLES = {
  "invalid-argument": { kind: "invalid-argument", violations: [] },
  unauthenticated: { kind: "unauthenticated" },
  "permission-denied": { kind: "permission-denied", action: "" },
  "not-found": { kind: "not-found", resource: "", name: "" },
  "already-exists": { kind: "already-exists", resource: "", name: "" },
  conflict: { kind: "conflict", resource: "", name: "" },
  "failed-precondition": { kind: "failed-precondition", subject: "" },
  "resource-exhausted": { kind: "resource-exhausted", limit: "" },
  unavailable: { kind: "unavailable", dependency: "" },
  "deadline-exceeded": { kind: "deadline-exceeded", afterMs: 0 },
  cancelled: { kind: "cancelled" },
  unimplemented: { kind: "unimplemented", feature: "" },
  internal: { kind: "internal" },
} as const satisfies Record<Exclude<FaultKind, "partial-failure">, FaultDetail>;

function errorsPage(): string {
  return `# Errors

Generated from \`packages/foundation/src/faults/fault-codes.ts\` and the two tables of \`packages/contracts\`. Do not edit.

Every failure is a *fault* with a kind (for programs), a stable code (below), a message that is safe to show and, where it
applies, violations with JSON paths, the parts of a partial failure, and a retry delay.

## Over HTTP

The body is \`application/problem+json\` (RFC 9457): \`type\`, \`title\`, \`status\`, \`detail\`, and beside them \`error\` (the
message, for compatibility), \`code\`, \`kind\`, \`retryable\`, \`correlationId\`, \`details\` (attributes of the kind),
\`violations\` (\`path\`, \`message\`, \`fix\`) and \`parts\` (\`name\`, \`problem\`). \`Retry-After\` is set when the fault has a
retry delay.

## Kinds

Retry: whether repeating the same request may succeed.

${table(
  ["Kind", "HTTP", "gRPC", "Retry"],
  [
    ...Object.values(SAMPLES).map(kindRow),
    ["`partial-failure`", "of the dominant part", "of the dominant part", "if all parts are"],
  ],
)}

The dominant part is the first that is not retryable, otherwise the first. A deployment that failed in every cluster
therefore returns 503 when the clusters are down, and 400 only when the request is invalid.

Some codes have their own HTTP status, because that of their kind would blame the client:

${table(
  ["Code", "HTTP"],
  Object.entries(HTTP_STATUS_OF_CODE).map(([code, status]) => [`\`${code}\``, String(status)]),
)}

Errors specific to HTTP keep their kind and have their own status:

${table(
  ["Error", "HTTP", "Kind"],
  Object.entries(HTTP_ERRORS).map(([name, { status, kind }]) => [
    name.replaceAll("-", " "),
    String(status),
    `\`${kind}\``,
  ]),
)}

## Codes

${table(
  ["Code", "Meaning", "What to do"],
  Object.entries(FAULT_CODES).map(([code, { meaning, remedy }]) => [`\`${code}\``, meaning, remedy]),
)}
`;
}

function kindRow(detail: FaultDetail): string[] {
  const fault = new Fault(detail, "");
  const code = grpcStatusName(faultStatusCode(fault));
  return [`\`${detail.kind}\``, String(faultStatus(fault)), code, fault.retryable ? "yes" : "no"];
}
