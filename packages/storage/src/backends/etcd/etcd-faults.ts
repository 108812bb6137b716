import { status, type ServiceError } from "@grpc/grpc-js";
import {
  failedPrecondition,
  Fault,
  internal,
  invalidArgument,
  resourceExhausted,
  ROOT_PATH,
  unavailable,
} from "@oaas/foundation";
import { compactedFault, fullFault, leaseLostFault } from "../../kv-faults.ts";

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
  if (!isServiceError(thrown)) return { do: "give-up", fault: Fault.from(thrown) };
  if (needsToken(thrown)) {
    return { do: "authenticate", fault: new Fault({ kind: "unauthenticated" }, says(thrown), { cause: thrown }) };
  }
  const answered = answeredFault(thrown);
  if (answered !== undefined) return { do: "give-up", fault: answered };
  return { do: "try-elsewhere", fault: silent(thrown), sent: !thrown.details.startsWith("No connection established") };
}

/** The fault of an etcd that cannot be reached or cannot work. Retryable. */
export function silent(cause: unknown): Fault {
  const details = isServiceError(cause) ? cause.details : (cause as Error).message;
  return unavailable("etcd", `etcd is not available: ${details}`, { cause });
}

function isServiceError(thrown: unknown): thrown is ServiceError {
  return thrown instanceof Error && typeof (thrown as Partial<ServiceError>).details === "string";
}

function needsToken(error: ServiceError): boolean {
  return error.code === status.UNAUTHENTICATED || error.details.includes("revision of auth store is old");
}

function says(error: ServiceError): string {
  return `etcd says: ${error.details.replace(/^etcdserver: /, "")}`;
}

function answeredFault(error: ServiceError): Fault | undefined {
  return ANSWERED[error.code]?.(error);
}

/** The faults that etcd states; what is not here is a matter of the connection or of the cluster's state. */
const ANSWERED: Partial<Record<status, (error: ServiceError) => Fault | undefined>> = {
  [status.OUT_OF_RANGE]: (cause) =>
    cause.details.includes("compacted")
      ? compactedFault(0, undefined)
      : invalidArgument("the revision", [{ path: ROOT_PATH, message: says(cause) }], { cause }),
  [status.RESOURCE_EXHAUSTED]: (cause) =>
    cause.details.includes("database space exceeded")
      ? fullFault("etcd's database", cause)
      : resourceExhausted("etcd", says(cause), { cause }),
  [status.NOT_FOUND]: (cause) =>
    cause.details.includes("lease") ? leaseLostFault("of the write", "etcd does not know it", cause) : undefined,
  [status.PERMISSION_DENIED]: (cause) =>
    new Fault({ kind: "permission-denied", action: "use etcd" }, says(cause), { cause }),
  [status.INVALID_ARGUMENT]: (cause) =>
    /authentication failed|user name/.test(cause.details)
      ? new Fault({ kind: "unauthenticated" }, says(cause), { cause })
      : invalidArgument("the request", [{ path: ROOT_PATH, message: says(cause) }], { cause }),
  [status.FAILED_PRECONDITION]: (cause) => failedPrecondition("etcd", says(cause), { cause }),
  [status.DATA_LOSS]: (cause) => internal(says(cause), { cause, code: "OAAS_STORE_CORRUPT" }),
  [status.UNIMPLEMENTED]: (cause) => new Fault({ kind: "unimplemented", feature: "etcd v3" }, says(cause), { cause }),
};
