import {
  failedPrecondition,
  Fault,
  internal,
  invalidArgument,
  resourceExhausted,
  ROOT_PATH,
  unavailable,
} from "@oaas/foundation";
import { compactedFault, fullFault, leaseLostFault } from "../../port/store-faults.ts";
import { GrpcCode, GrpcFailure } from "./grpc-failure.ts";

/** What to do about a failed call. */
export type Verdict =
  /** Answered: it was not done and will not be. */
  | { readonly do: "give-up"; readonly fault: Fault }
  /** Refused before it was looked at: the token is missing or too old. */
  | { readonly do: "authenticate"; readonly fault: Fault }
  /** No answer that counts: try elsewhere. If `sent`, a write may have been done all the same. */
  | { readonly do: "try-elsewhere"; readonly fault: Fault; readonly sent: boolean };

/** Judges an error of gRPC or of our own timers. */
export function judge(thrown: unknown): Verdict {
  if (thrown instanceof Fault) {
    return thrown.kind === "deadline-exceeded"
      ? { do: "try-elsewhere", fault: silent(thrown), sent: true }
      : { do: "give-up", fault: thrown };
  }
  if (!(thrown instanceof GrpcFailure)) return { do: "give-up", fault: Fault.from(thrown) };
  if (needsToken(thrown)) {
    return { do: "authenticate", fault: new Fault({ kind: "unauthenticated" }, says(thrown), { cause: thrown }) };
  }
  const answered = answeredFault(thrown);
  if (answered !== undefined) return { do: "give-up", fault: answered };
  return { do: "try-elsewhere", fault: silent(thrown), sent: thrown.sent };
}

/** The fault of an etcd that cannot be reached or cannot work. Retryable. */
export function silent(cause: unknown): Fault {
  const details = cause instanceof GrpcFailure ? cause.details : (cause as Error).message;
  return unavailable("etcd", `etcd is not available: ${details}`, { cause });
}

function needsToken(error: GrpcFailure): boolean {
  return error.code === GrpcCode.unauthenticated || error.details.includes("revision of auth store is old");
}

function says(error: GrpcFailure): string {
  return `etcd says: ${error.details.replace(/^etcdserver: /, "")}`;
}

function answeredFault(error: GrpcFailure): Fault | undefined {
  return ANSWERED[error.code]?.(error);
}

/** The faults that etcd states; what is not here is a matter of the connection or of the cluster's state. */
const ANSWERED: Readonly<Record<number, (error: GrpcFailure) => Fault | undefined>> = {
  [GrpcCode.outOfRange]: (cause) =>
    cause.details.includes("compacted")
      ? compactedFault(0, undefined)
      : invalidArgument("the revision", [{ path: ROOT_PATH, message: says(cause) }], { cause }),
  [GrpcCode.resourceExhausted]: (cause) =>
    cause.details.includes("database space exceeded")
      ? fullFault("etcd's database", cause)
      : resourceExhausted("etcd", says(cause), { cause }),
  [GrpcCode.notFound]: (cause) =>
    cause.details.includes("lease") ? leaseLostFault("of the write", "etcd does not know it", cause) : undefined,
  [GrpcCode.permissionDenied]: (cause) =>
    new Fault({ kind: "permission-denied", action: "use etcd" }, says(cause), { cause }),
  [GrpcCode.invalidArgument]: (cause) =>
    /authentication failed|user name/.test(cause.details)
      ? new Fault({ kind: "unauthenticated" }, says(cause), { cause })
      : invalidArgument("the request", [{ path: ROOT_PATH, message: says(cause) }], { cause }),
  [GrpcCode.failedPrecondition]: (cause) => failedPrecondition("etcd", says(cause), { cause }),
  [GrpcCode.dataLoss]: (cause) => internal(says(cause), { cause, code: "OAAS_STORE_CORRUPT" }),
  [GrpcCode.unimplemented]: (cause) => new Fault({ kind: "unimplemented", feature: "etcd v3" }, says(cause), { cause }),
};
