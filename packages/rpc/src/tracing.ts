import { status } from "@grpc/grpc-js";
import type { SpanStart } from "@oaas/observability";

/** Health checks and reflection: frequent, and part of no work. */
export const UNTRACED = /^\/grpc\./;

/** Status codes that are errors of the server; the others are errors of the caller, by the semantic conventions. */
export const SERVER_ERRORS: ReadonlySet<string> = new Set([
  "UNKNOWN",
  "DEADLINE_EXCEEDED",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
]);

/** Numbers of the status codes. */
export const GRPC_CODES: ReadonlyMap<string, number> = new Map(
  Object.entries(status).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
);

/** The span of a call to `/package.Service/Method`. */
export function callSpan(kind: "server" | "client", path: string): SpanStart {
  const [, service = "", method = ""] = path.split("/");
  return {
    name: path.slice(1),
    kind,
    attributes: { "rpc.system": "grpc", "rpc.service": service, "rpc.method": method },
  };
}
