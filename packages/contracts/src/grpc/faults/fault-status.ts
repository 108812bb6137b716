import { dominantPart, type Fault, type FaultKind } from "@oaas/foundation";
import { decodeFault, encodeFault, shortened } from "./fault-encoding.ts";
import { foreignFault, type PeerCall } from "./foreign-fault.ts";
import { METADATA_KEYS } from "../metadata.ts";
import { GRPC_STATUS, type GrpcStatusCode } from "./status-codes.ts";

/** gRPC status code by fault kind. A partial failure has the code of its dominant part. */
const STATUS_OF_KIND = {
  "invalid-argument": GRPC_STATUS.INVALID_ARGUMENT,
  unauthenticated: GRPC_STATUS.UNAUTHENTICATED,
  "permission-denied": GRPC_STATUS.PERMISSION_DENIED,
  "not-found": GRPC_STATUS.NOT_FOUND,
  "already-exists": GRPC_STATUS.ALREADY_EXISTS,
  conflict: GRPC_STATUS.ABORTED,
  "failed-precondition": GRPC_STATUS.FAILED_PRECONDITION,
  "resource-exhausted": GRPC_STATUS.RESOURCE_EXHAUSTED,
  unavailable: GRPC_STATUS.UNAVAILABLE,
  "deadline-exceeded": GRPC_STATUS.DEADLINE_EXCEEDED,
  cancelled: GRPC_STATUS.CANCELLED,
  unimplemented: GRPC_STATUS.UNIMPLEMENTED,
  "partial-failure": "of-dominant-part",
  internal: GRPC_STATUS.INTERNAL,
} as const satisfies Record<FaultKind, GrpcStatusCode | "of-dominant-part">;

/** The gRPC code of a fault. */
export function faultStatusCode(fault: Fault): GrpcStatusCode {
  if (fault.detail.kind !== "partial-failure") return STATUS_OF_KIND[fault.detail.kind];
  const dominant = dominantPart(fault.detail.parts);
  return dominant === undefined ? GRPC_STATUS.INTERNAL : faultStatusCode(dominant.fault);
}

/** A failed call as sent by a server. Metadata is trailing; keys that end in `-bin` contain bytes. */
export interface GrpcFailure {
  readonly code: GrpcStatusCode;
  readonly message: string;
  readonly metadata: ReadonlyMap<string, string | Uint8Array>;
}

/** Header bytes. Together with the encoded fault below 8 KiB, where some peers drop a call. */
const MESSAGE_BUDGET_BYTES = 1024;
const HEADER_SAFE = /^[\x20-\x7e]{1,256}$/;

/** Converts a fault to a gRPC status of bounded size. Cause and context are not included. */
export function faultToStatus(fault: Fault): GrpcFailure {
  const metadata = new Map<string, string | Uint8Array>([[METADATA_KEYS.fault, encodeFault(fault)]]);
  const { correlationId } = fault;
  if (correlationId !== undefined && HEADER_SAFE.test(correlationId)) {
    metadata.set(METADATA_KEYS.correlationId, correlationId);
  }
  if ("retryAfterMs" in fault.detail && fault.detail.retryAfterMs !== undefined) {
    metadata.set(METADATA_KEYS.retryPushbackMs, String(Math.ceil(fault.detail.retryAfterMs)));
  }
  return { code: faultStatusCode(fault), message: shortened(fault.message, MESSAGE_BUDGET_BYTES), metadata };
}

/** A failed call as received by a client. `message` is the peer's text, without a prefix added by a library. */
export interface ReceivedStatus {
  readonly code: number;
  readonly message: string;
  /** Trailing metadata; compatible with grpc-js's Metadata. */
  readonly metadata?: { get(key: string): readonly (string | Uint8Array)[] };
}

/**
 * Converts a failed call to a fault.
 *
 * Uses the encoded fault of our own services if it matches the status code, which a proxy may have set. Otherwise the
 * status code determines the fault.
 */
export function faultFromStatus(status: ReceivedStatus, call: PeerCall): Fault {
  const [encoded] = status.metadata?.get(METADATA_KEYS.fault) ?? [];
  const decoded = encoded instanceof Uint8Array ? decodeFault(encoded, status.message) : undefined;
  if (decoded !== undefined && faultStatusCode(decoded) === status.code) return decoded;
  const fault = foreignFault(status, call);
  const [correlationId] = status.metadata?.get(METADATA_KEYS.correlationId) ?? [];
  return typeof correlationId === "string" ? fault.withCorrelationId(correlationId) : fault;
}
