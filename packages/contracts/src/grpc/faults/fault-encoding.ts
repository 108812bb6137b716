import { create, fromBinary, toBinary, type Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import {
  countViolations,
  dominantPart,
  Fault,
  FAULT_CODES,
  type FaultCode,
  type FaultDetail,
  type FaultOptions,
  type FaultPart,
  type Violation,
} from "@oaas/foundation";
import {
  FaultStatusPartSchema,
  FaultStatusSchema,
  FaultViolationSchema,
  type FaultStatus,
  type FaultStatusPart,
  type FaultViolation,
} from "../../gen/fault_pb.ts";

/** Maximum bytes of an encoded fault: 4 KiB in base64, within the header limits of all peers. */
const BUDGET_BYTES = 3072;
const PART_BUDGET_BYTES = 512;
const TEXT_BUDGET_BYTES = 512;
const SHORT_TEXT_BUDGET_BYTES = 160;
/** Tag and length of a list element, two bytes each. */
const ELEMENT_OVERHEAD_BYTES = 4;

/** Encodes a fault for the trailing metadata. Items that do not fit are omitted and counted. */
export function encodeFault(fault: Fault): Uint8Array {
  return toBinary(FaultStatusSchema, faultToWire(fault, BUDGET_BYTES));
}

function faultToWire(fault: Fault, budget: number): FaultStatus {
  const wire = create(FaultStatusSchema, {
    kind: fault.kind,
    code: fault.code,
    correlationId: shortened(fault.correlationId ?? "", SHORT_TEXT_BUDGET_BYTES),
  });
  describe(wire, fault.detail);
  const left = budget - toBinary(FaultStatusSchema, wire).length;
  if (fault.detail.kind === "invalid-argument") addViolations(wire, fault.detail.violations, left);
  if (fault.detail.kind === "partial-failure") addParts(wire, fault.detail.parts, left);
  return wire;
}

/** Sets the fields of the kind, except lists. */
function describe(wire: FaultStatus, detail: FaultDetail): void {
  if ("resource" in detail) wire.resource = shortened(detail.resource, TEXT_BUDGET_BYTES);
  if ("name" in detail) wire.name = shortened(detail.name, TEXT_BUDGET_BYTES);
  if ("afterMs" in detail) wire.afterMs = detail.afterMs;
  if ("retryAfterMs" in detail && detail.retryAfterMs !== undefined) wire.retryAfterMs = detail.retryAfterMs;
  const subject = subjectOf(detail);
  if (subject !== undefined) wire.subject = shortened(subject, TEXT_BUDGET_BYTES);
}

function subjectOf(detail: FaultDetail): string | undefined {
  if ("action" in detail) return detail.action;
  if ("subject" in detail) return detail.subject;
  if ("limit" in detail) return detail.limit;
  if ("dependency" in detail) return detail.dependency;
  return "feature" in detail ? detail.feature : undefined;
}

function addViolations(wire: FaultStatus, violations: readonly Violation[], budget: number): void {
  const listed = violations.filter(({ omitted }) => omitted === undefined);
  wire.violations = fitting(listed, violationToWire, FaultViolationSchema, budget);
  wire.omittedViolations = countViolations(violations) - wire.violations.length;
}

function violationToWire({ path, message, fix }: Violation): FaultViolation {
  return create(FaultViolationSchema, {
    path: shortened(path, TEXT_BUDGET_BYTES),
    message: shortened(message, TEXT_BUDGET_BYTES),
    ...(fix === undefined ? {} : { fix: shortened(fix, TEXT_BUDGET_BYTES) }),
  });
}

function addParts(wire: FaultStatus, parts: readonly FaultPart[], budget: number): void {
  const inOrder = fitting(parts, partToWire, FaultStatusPartSchema, budget);
  // The dominant part determines the status code, so it must be included.
  wire.parts =
    inOrder.length === parts.length
      ? inOrder
      : fitting(dominantFirst(parts), partToWire, FaultStatusPartSchema, budget);
  wire.omittedParts = parts.length - wire.parts.length;
}

function partToWire(part: FaultPart): FaultStatusPart {
  const fault = faultToWire(part.fault, PART_BUDGET_BYTES);
  fault.message = shortened(part.fault.message, SHORT_TEXT_BUDGET_BYTES);
  return create(FaultStatusPartSchema, { name: shortened(part.name, SHORT_TEXT_BUDGET_BYTES), fault });
}

function dominantFirst(parts: readonly FaultPart[]): readonly FaultPart[] {
  const dominant = dominantPart(parts);
  return dominant === undefined ? parts : [dominant, ...parts.filter((part) => part !== dominant)];
}

/** The first elements that fit the budget. Stops at the first that does not, to bound the cost for long lists. */
function fitting<Element, M extends Message>(
  elements: readonly Element[],
  toWire: (element: Element) => M,
  schema: GenMessage<M>,
  budget: number,
): M[] {
  const fits: M[] = [];
  let left = budget;
  for (const element of elements) {
    const message = toWire(element);
    left -= toBinary(schema, message).length + ELEMENT_OVERHEAD_BYTES;
    if (left < 0) break;
    fits.push(message);
  }
  return fits;
}

/** Decodes a fault; undefined for invalid bytes and unknown kinds. */
export function decodeFault(bytes: Uint8Array, message: string): Fault | undefined {
  try {
    return faultFromWire(fromBinary(FaultStatusSchema, bytes), message);
  } catch {
    // The gRPC status still identifies the kind of failure.
    return undefined;
  }
}

function faultFromWire(wire: FaultStatus, message: string): Fault | undefined {
  const detail = detailFromWire(wire);
  if (detail === undefined) return undefined;
  const options: FaultOptions = {
    ...(isFaultCode(wire.code) ? { code: wire.code } : {}),
    ...(wire.correlationId === "" ? {} : { correlationId: wire.correlationId }),
  };
  return new Fault(detail, message, options);
}

function isFaultCode(code: string): code is FaultCode {
  return Object.hasOwn(FAULT_CODES, code);
}

function detailFromWire(wire: FaultStatus): FaultDetail | undefined {
  const { kind, resource, name, subject, retryAfterMs } = wire;
  const retry = retryAfterMs === undefined ? {} : { retryAfterMs };
  switch (kind) {
    case "invalid-argument":
      return { kind, ...(subject === "" ? {} : { subject }), violations: violationsFromWire(wire) };
    case "not-found":
    case "already-exists":
    case "conflict":
      return { kind, resource, name };
    case "permission-denied":
      return { kind, action: subject };
    case "failed-precondition":
      return { kind, subject };
    case "resource-exhausted":
      return { kind, limit: subject, ...retry };
    case "unavailable":
      return { kind, dependency: subject, ...retry };
    case "deadline-exceeded":
      return { kind, afterMs: wire.afterMs };
    case "unimplemented":
      return { kind, feature: subject };
    case "partial-failure":
      return { kind, parts: partsFromWire(wire.parts) };
    case "unauthenticated":
    case "cancelled":
    case "internal":
      return { kind };
    default:
      return undefined;
  }
}

function violationsFromWire(wire: FaultStatus): Violation[] {
  const violations = wire.violations.map(violationFromWire);
  return wire.omittedViolations === 0
    ? violations
    : [...violations, { path: "$", message: `has ${wire.omittedViolations} more problems, not sent` }];
}

function violationFromWire({ path, message, fix }: FaultViolation): Violation {
  return { path, message, ...(fix === undefined ? {} : { fix }) };
}

function partsFromWire(parts: readonly FaultStatusPart[]): FaultPart[] {
  return parts.flatMap(({ name, fault: wire }) => {
    const fault = wire === undefined ? undefined : faultFromWire(wire, wire.message);
    return fault === undefined ? [] : [{ name, fault }];
  });
}

const encoder = new TextEncoder();

/** Size of a text in the `grpc-message` header, where all but printable ASCII is percent-encoded. */
export function percentEncodedSize(text: string): number {
  return encoder.encode(text).reduce((size, byte) => size + (byte < 0x20 || byte > 0x7e || byte === 0x25 ? 3 : 1), 0);
}

/** Truncates a text to a maximum percent-encoded size; a truncated text ends in "...". */
export function shortened(text: string, maxBytes: number): string {
  // Do not encode a text longer than the limit: a fault may quote a megabyte of input.
  if (text.length <= maxBytes && percentEncodedSize(text) <= maxBytes) return text;
  const ellipsis = "...";
  let size = ellipsis.length;
  let kept = "";
  for (const character of text) {
    size += percentEncodedSize(character);
    if (size > maxBytes) break;
    kept += character;
  }
  return kept + ellipsis;
}
