import {
  failedPrecondition,
  Fault,
  internal,
  invalidArgument,
  resourceExhausted,
  ROOT_PATH,
  unavailable,
} from "@oaas/foundation";
import { compactedFault, fullFault, leaseLostFault } from "../../../port/store-faults.ts";
import { GrpcCode, GrpcFailure } from "./grpc-failure.ts";

/** Classification of a failed call. */
export type Verdict =
  /** Rejected: the request was not executed. */
  | { readonly do: "give-up"; readonly fault: Fault }
  /** Rejected because the token is missing or expired. */
  | { readonly do: "authenticate"; readonly fault: Fault }
  /** No valid response: use another endpoint. If `sent`, a write may have been executed. */
  | { readonly do: "try-elsewhere"; readonly fault: Fault; readonly sent: boolean };

/** Classifies an error of gRPC or of a timer. */
export function judge(thrown: unknown): Verdict {
  if (thrown instanceof Fault) {
    return thrown.kind === "deadline-exceeded"
      ? { do: "try-elsewhere", fault: silent(thrown), sent: true }
      : { do: "give-up", fault: thrown };
  }
  if (!(thrown instanceof GrpcFailure)) return { do: "give-up", fault: Fault.from(thrown) };
  if (needsToken(thrown)) {
    return {
      do: "authenticate",
      fault: new Fault({ kind: "unauthenticated" }, etcdMessage(thrown), { cause: thrown }),
    };
  }
  const answered = answeredFault(thrown);
  if (answered !== undefined) return { do: "give-up", fault: answered };
  return { do: "try-elsewhere", fault: silent(thrown), sent: thrown.sent };
}

/** Retryable fault of an etcd that is not available. */
export function silent(cause: unknown): Fault {
  const details = cause instanceof GrpcFailure ? cause.details : (cause as Error).message;
  return unavailable("etcd", `etcd is not available: ${details}`, { cause });
}

function needsToken(error: GrpcFailure): boolean {
  return error.code === GrpcCode.unauthenticated || error.details.includes("revision of auth store is old");
}

function etcdMessage(error: GrpcFailure): string {
  return `etcd: ${error.details.replace(/^etcdserver: /, "")}`;
}

function answeredFault(error: GrpcFailure): Fault | undefined {
  return ANSWERED[error.code]?.(error);
}

/** Faults by etcd error. Other errors concern the connection or the state of the cluster. */
const ANSWERED: Readonly<Record<number, (error: GrpcFailure) => Fault | undefined>> = {
  [GrpcCode.outOfRange]: (cause) =>
    cause.details.includes("compacted")
      ? compactedFault(0, undefined)
      : invalidArgument("the revision", [{ path: ROOT_PATH, message: etcdMessage(cause) }], { cause }),
  [GrpcCode.resourceExhausted]: (cause) =>
    cause.details.includes("database space exceeded")
      ? fullFault("etcd's database", cause)
      : resourceExhausted("etcd", etcdMessage(cause), { cause }),
  [GrpcCode.notFound]: (cause) =>
    cause.details.includes("lease") ? leaseLostFault("of the write", "not found in etcd", cause) : undefined,
  [GrpcCode.permissionDenied]: (cause) =>
    new Fault({ kind: "permission-denied", action: "use etcd" }, etcdMessage(cause), { cause }),
  [GrpcCode.invalidArgument]: (cause) =>
    /authentication failed|user name/.test(cause.details)
      ? new Fault({ kind: "unauthenticated" }, etcdMessage(cause), { cause })
      : invalidArgument("the request", [{ path: ROOT_PATH, message: etcdMessage(cause) }], { cause }),
  [GrpcCode.failedPrecondition]: (cause) => failedPrecondition("etcd", etcdMessage(cause), { cause }),
  [GrpcCode.dataLoss]: (cause) => internal(etcdMessage(cause), { cause, code: "OAAS_STORE_CORRUPT" }),
  [GrpcCode.unimplemented]: (cause) =>
    new Fault({ kind: "unimplemented", feature: "etcd v3" }, etcdMessage(cause), { cause }),
};
