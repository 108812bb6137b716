import { Fault, invalidArgument, type FaultPart, type Violation } from "@oaas/foundation";
import type { Package } from "@oaas/models";
import {
  combineTransactions,
  MAX_OPERATIONS,
  MAX_TRANSACTION_BYTES,
  type Transaction,
  type Write,
} from "@oaas/storage";
import type { DocumentRequest } from "../use-cases.ts";

/** The documents of a request, and the deployments inside its packages that are applied too. */
export function withEmbedded(
  documents: readonly DocumentRequest[],
  isScheduling: (definition: Package) => boolean,
): readonly DocumentRequest[] {
  const explicit = new Set(documents.map(nameOf));
  const embedded = documents.flatMap((document): DocumentRequest[] => {
    if (document.kind !== "package" || !isScheduling(document.package)) return [];
    const { name, deployments } = document.package;
    return deployments.map((each) => ({ kind: "deployment", deployment: { ...each, packageName: name } }));
  });
  // A deployment that is also a document of its own counts as written there.
  return [...documents, ...embedded.filter((each) => !explicit.has(nameOf(each)))];
}

/** `package/shop` or `deployment/shop-order`. */
export function nameOf(document: DocumentRequest): string {
  return document.kind === "package" ? `package/${document.package.name}` : `deployment/${document.deployment.key}`;
}

/** Rejects two documents of one object: the intended one is unknown. */
export function assertDistinct(documents: readonly DocumentRequest[]): void {
  const first = new Map<string, number>();
  const violations = documents.flatMap((document, index): Violation[] => {
    const name = nameOf(document);
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    if (earlier === undefined) return [];
    const path = `$.documents[${index}].${document.kind}`;
    return [{ path, message: `${name} is also document ${earlier}`, fix: "remove one of them" }];
  });
  if (violations.length > 0) throw invalidArgument("the documents", violations);
}

/** One transaction of references, which may write the same keys: any of the values will do. */
export function mergeReferences(references: readonly Transaction[]): Transaction {
  const { conditions = [], writes } = combineTransactions(...references);
  const byKey = new Map(writes.map((write) => [write.op === "put" ? write.key : JSON.stringify(write), write]));
  return { conditions, writes: [...byKey.values()] };
}

/** The idempotency record, which a dry run does not write. */
const RESERVED = { operations: 1, bytes: 16_384 };

/** Rejects a set that does not fit into one transaction of the store. */
export function assertOneTransaction(transactions: readonly Transaction[]): void {
  const { conditions = [], writes } = combineTransactions(...transactions);
  const operations = Math.max(conditions.length, writes.length) + RESERVED.operations;
  const bytes = writes.reduce((sum, write) => sum + bytesOf(write), RESERVED.bytes);
  const fix = "apply the documents in several requests, each with the packages that its deployments use";
  const violations = [
    ...(operations > MAX_OPERATIONS
      ? [
          {
            path: "$.documents",
            message: `need ${operations} writes; one transaction has at most ${MAX_OPERATIONS}`,
            fix,
          },
        ]
      : []),
    ...(bytes > MAX_TRANSACTION_BYTES
      ? [
          {
            path: "$.documents",
            message: `take ${bytes} bytes; one transaction has at most ${MAX_TRANSACTION_BYTES}`,
            fix,
          },
        ]
      : []),
  ];
  if (violations.length > 0) throw invalidArgument("the documents", violations);
}

function bytesOf(write: Write): number {
  return write.op === "put" ? Buffer.byteLength(write.key) + Buffer.byteLength(write.value) : 256;
}

/** Faults of a document. Any other fault, such as a store that does not answer, concerns the whole request. */
const REJECTIONS: ReadonlySet<Fault["kind"]> = new Set([
  "invalid-argument",
  "failed-precondition",
  "not-found",
  "already-exists",
  "conflict",
]);

/** Whether a fault rejects its document: also a plan that is refused while clusters are down. */
export function isRejection(fault: Fault): boolean {
  return REJECTIONS.has(fault.kind) || fault.evidence !== undefined;
}

const LISTED = 5;

/** The rejection of a set, with the fault of each rejected document. */
export function rejectedDocuments(parts: readonly FaultPart[]): Fault {
  const listed = parts.slice(0, LISTED).map(({ name, fault }) => `${name}: ${fault.message}`);
  const more = parts.length > LISTED ? [`and ${parts.length - LISTED} more`] : [];
  const subject = parts.length === 1 ? "a document was rejected" : `${parts.length} documents were rejected`;
  return new Fault(
    { kind: "partial-failure", parts },
    `${subject}, so nothing was applied: ${[...listed, ...more].join("; ")}`,
    { code: "OAAS_DOCUMENTS_REJECTED" },
  );
}
