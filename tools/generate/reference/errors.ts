import { faultStatusCode, grpcStatusName } from "@oaas/contracts/grpc";
import { faultStatus, HTTP_REFUSALS, HTTP_STATUS_OF_CODE } from "@oaas/contracts/rest";
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

/** One fault of each kind that has a status of its own, to ask the tables with. */
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

Every failure is one *fault*. It has a kind (for programs), a stable code (below), a message that is safe to show, and,
where it helps, violations with JSON paths, the parts of a partial failure, and how long to wait.

## Over HTTP

The body is \`application/problem+json\` (RFC 9457): \`type\`, \`title\`, \`status\`, \`detail\`, and beside them \`error\` (the
message, as earlier versions had it), \`code\`, \`kind\`, \`retryable\`, \`correlationId\`, \`details\` (what the kind names),
\`violations\` (\`path\`, \`message\`, \`fix\`) and \`parts\` (\`name\`, \`problem\`). \`Retry-After\` is set when the fault says how
long to wait.

## Kinds

Retry means: the same request, unchanged, may succeed later.

${table(
  ["Kind", "HTTP", "gRPC", "Retry"],
  [
    ...Object.values(SAMPLES).map(kindRow),
    ["`partial-failure`", "of the part that decides", "of the part that decides", "if every part is"],
  ],
)}

The part that decides is the first that trying again will not mend, else the first. So a deployment that failed in every
cluster answers 503 when the clusters are down, and 400 only when the request is at fault.

Some codes have a status of their own, because that of their kind would blame the caller:

${table(
  ["Code", "HTTP"],
  Object.entries(HTTP_STATUS_OF_CODE).map(([code, status]) => [`\`${code}\``, String(status)]),
)}

Refusals that only HTTP knows keep their kind and have a status of their own:

${table(
  ["Refusal", "HTTP", "Kind"],
  Object.entries(HTTP_REFUSALS).map(([name, { status, kind }]) => [
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
