import { Fault, type FaultCode, type FaultDetail, type Violation } from "@oaas/foundation";

/** A fault in a journal: the parts that may be shown outside and that decide about retries. */
export interface StoredFault {
  readonly detail: Exclude<FaultDetail, { kind: "partial-failure" }>;
  readonly code: FaultCode;
  readonly message: string;
}

/** The faults of one saga share this size; the final transaction stores each of them up to four times. */
const FAULTS_OF_SAGA_BYTES = 192 * 1024;
const MIN_FAULT_BYTES = 256;
const MAX_FAULT_BYTES = 8 * 1024;

/** The size of one stored fault in a saga with this number of steps. */
export function faultBytes(steps: number): number {
  const share = Math.floor(FAULTS_OF_SAGA_BYTES / Math.max(1, steps));
  return Math.min(MAX_FAULT_BYTES, Math.max(MIN_FAULT_BYTES, share));
}

/**
 * The storable part of a fault, shortened to a size, because the journal of a saga must fit into a transaction whatever
 * its clusters answer. A partial failure is stored as internal: a step has one effect and one fault.
 */
export function storeFault({ detail, code, message }: Fault, maxBytes = MAX_FAULT_BYTES): StoredFault {
  const half = Math.floor(maxBytes / 2);
  return {
    detail: detail.kind === "partial-failure" ? { kind: "internal" } : shortenDetail(detail, half),
    code,
    message: shortenText(message, half),
  };
}

export function restoreFault(stored: StoredFault): Fault {
  return new Fault(stored.detail, stored.message, { code: stored.code });
}

/** The beginning of a text whose JSON has at most this number of bytes. */
export function shortenText(text: string, maxBytes: number): string {
  if (jsonBytes(text) <= maxBytes) return text;
  for (let length = Math.min(text.length, maxBytes); length > 0; length = Math.floor(length * 0.8)) {
    const shorter = `${text.slice(0, length).toWellFormed()}…`;
    if (jsonBytes(shorter) <= maxBytes) return shorter;
  }
  return "…";
}

function shortenDetail(detail: StoredFault["detail"], maxBytes: number): StoredFault["detail"] {
  if (jsonBytes(detail) <= maxBytes) return detail;
  if (detail.kind === "invalid-argument") return { ...detail, ...shortenViolations(detail, maxBytes) };
  const members = Object.entries(detail).map(([name, value]) => [
    name,
    name !== "kind" && typeof value === "string" ? shortenText(value, Math.floor(maxBytes / 4)) : value,
  ]);
  return Object.fromEntries(members) as StoredFault["detail"];
}

/** The first violations that fit, and how many were left out. */
function shortenViolations(
  { subject, violations }: { readonly subject?: string; readonly violations: readonly Violation[] },
  maxBytes: number,
): { readonly subject?: string; readonly violations: readonly Violation[] } {
  let left = maxBytes - LEFT_OUT_BYTES;
  const kept: Violation[] = [];
  for (const violation of violations) {
    left -= jsonBytes(violation) + 1;
    if (left < 0) break;
    kept.push(violation);
  }
  const message = `${violations.length - kept.length} violations were left out`;
  return {
    ...(subject === undefined ? {} : { subject: shortenText(subject, SUBJECT_BYTES) }),
    violations: [...kept, { path: "$", message }],
  };
}

const SUBJECT_BYTES = 40;
/** The subject, the note about the rest, and the names of the members. */
const LEFT_OUT_BYTES = SUBJECT_BYTES + 120;

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
