import { dominantPart, type Fault, type FaultKind } from "@oaas/foundation";
import { decodeFault, encodeFault, shortened } from "./fault-encoding.ts";
import { foreignFault, type PeerCall } from "./foreign-fault.ts";
import { METADATA_KEYS } from "../metadata.ts";
import { GRPC_STATUS, type GrpcStatusCode } from "./status-codes.ts";

/** The one table from fault to gRPC status. A partial failure answers with the code of its dominant part. */
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

/** A failed call as a server sends it. Metadata is trailing; keys that end in `-bin` hold bytes. */
export interface GrpcFailure {
  readonly code: GrpcStatusCode;
  readonly message: string;
  readonly metadata: ReadonlyMap<string, string | Uint8Array>;
}

/** In bytes of the header. Together with the encoded fault it stays below the 8 KiB at which some peers drop a call. */
const MESSAGE_BUDGET_BYTES = 1024;
const HEADER_SAFE = /^[\x20-\x7e]{1,256}$/;

/** What a server sends for a fault: all that is safe outside, in a bounded size. Cause and context stay behind. */
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

/** A failed call as a client sees it. `message` is the peer's own text, without a prefix that a library adds. */
export interface ReceivedStatus {
  readonly code: number;
  readonly message: string;
  /** Trailing metadata, by key; several values may share one. grpc-js's Metadata fits. */
  readonly metadata?: { get(key: string): readonly (string | Uint8Array)[] };
}

/**
 * The fault behind a failed call.
 *
 * A peer of ours tells it whole. Its word counts only when it agrees with the status code, which proxies may set too;
 * for everything else, and for foreign peers, the code decides.
 */
export function faultFromStatus(status: ReceivedStatus, call: PeerCall): Fault {
  const [encoded] = status.metadata?.get(METADATA_KEYS.fault) ?? [];
  const told = encoded instanceof Uint8Array ? decodeFault(encoded, status.message) : undefined;
  if (told !== undefined && faultStatusCode(told) === status.code) return told;
  const fault = foreignFault(status, call);
  const [correlationId] = status.metadata?.get(METADATA_KEYS.correlationId) ?? [];
  return typeof correlationId === "string" ? fault.withCorrelationId(correlationId) : fault;
}
