import { Fault, type FaultDetail, type FaultOptions } from "@oaas/foundation";
import { METADATA_KEYS } from "../metadata.ts";
import { GRPC_STATUS, grpcStatusName } from "./status-codes.ts";

/** Context of the failed call. */
export interface PeerCall {
  /** The callee, such as `cluster "edge-1"`. */
  readonly peer: string;
  /** Kind of the requested resource. */
  readonly resource?: string;
  readonly name?: string;
  /** Deadline of the call. */
  readonly deadlineMs?: number;
}

interface ForeignStatus {
  readonly code: number;
  readonly message: string;
  readonly metadata?: { get(key: string): readonly (string | Uint8Array)[] };
}

/** The fault of a status code, for peers that send no encoded fault. The message names the peer. */
export function foreignFault(status: ForeignStatus, call: PeerCall): Fault {
  const text = status.message === "" ? grpcStatusName(status.code) : simplifyMessage(status.message);
  const options: FaultOptions = { context: { peer: call.peer, grpcStatus: grpcStatusName(status.code) } };
  return new Fault(detailOf(status, call, text), `${call.peer}: ${text}`, options);
}

/** Extracts the reason from grpc-js's connection error, whose other parts are mostly empty. */
function simplifyMessage(message: string): string {
  const [, why, note] =
    /^No connection established\. Last error: (?:Error: )?(.*?)\. Resolution note: ?(.*)$/s.exec(message) ?? [];
  if (why === undefined) return message;
  return `no connection: ${why}${note ? ` (${note})` : ""}`;
}

function detailOf(status: ForeignStatus, call: PeerCall, text: string): FaultDetail {
  const { resource = "object", name = "", peer } = call;
  switch (status.code) {
    case GRPC_STATUS.CANCELLED:
      return { kind: "cancelled" };
    case GRPC_STATUS.INVALID_ARGUMENT:
    case GRPC_STATUS.OUT_OF_RANGE:
      return { kind: "invalid-argument", violations: [{ path: "$", message: text }] };
    case GRPC_STATUS.DEADLINE_EXCEEDED:
      return { kind: "deadline-exceeded", afterMs: call.deadlineMs ?? 0 };
    case GRPC_STATUS.NOT_FOUND:
      return { kind: "not-found", resource, name };
    case GRPC_STATUS.ALREADY_EXISTS:
      return { kind: "already-exists", resource, name };
    case GRPC_STATUS.PERMISSION_DENIED:
      return { kind: "permission-denied", action: `call ${peer}` };
    case GRPC_STATUS.UNAUTHENTICATED:
      return { kind: "unauthenticated" };
    case GRPC_STATUS.RESOURCE_EXHAUSTED:
      return { kind: "resource-exhausted", limit: peer, ...retryOf(status) };
    case GRPC_STATUS.FAILED_PRECONDITION:
      return { kind: "failed-precondition", subject: peer };
    case GRPC_STATUS.ABORTED:
      return { kind: "conflict", resource, name };
    case GRPC_STATUS.UNIMPLEMENTED:
      return { kind: "unimplemented", feature: `${peer}: ${text}` };
    case GRPC_STATUS.DATA_LOSS:
      return { kind: "internal" };
    default:
      // UNAVAILABLE, and also INTERNAL and UNKNOWN: the Rust manager returns INTERNAL when its Kubernetes API is down.
      // All calls are idempotent, so a bounded retry is safe.
      return { kind: "unavailable", dependency: peer, ...retryOf(status) };
  }
}

function retryOf(status: ForeignStatus): { readonly retryAfterMs?: number } {
  const [value] = status.metadata?.get(METADATA_KEYS.retryPushbackMs) ?? [];
  const retryAfterMs = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}
