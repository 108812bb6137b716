import type { Metadata, ServerUnaryCall } from "@grpc/grpc-js";
import { METADATA_KEYS } from "@oaas/contracts/grpc";
import { abortFault, cancelled, startDeadline, type Ambient } from "@oaas/foundation";
import { contextFromHeaders, ensureCorrelationId, type WorkContext } from "@oaas/observability";
import type { Call, Peer } from "./call.ts";

/** The members of a grpc-js call that the server uses. */
export interface AnyServerCall extends Pick<
  ServerUnaryCall<Buffer, Buffer>,
  "cancelled" | "getDeadline" | "getAuthContext" | "getPeer" | "sendMetadata"
> {
  readonly metadata: { get(name: string): readonly (string | Buffer)[] };
  on(event: "cancelled", listener: () => void): unknown;
  off(event: "cancelled", listener: () => void): unknown;
}

/** Target of a streaming response. `write` returns false when the caller must wait for "drain". */
export interface ReplyStream {
  write(message: Buffer): boolean;
  once(event: "drain", listener: () => void): unknown;
  end(): void;
}

/** Error of a call in the format of grpc-js, which reads code, details and trailing metadata from it. */
export interface CallError extends Error {
  readonly code: number;
  readonly details: string;
  readonly metadata: Metadata;
}

/** A call over a transport other than grpc-js. */
export interface ForeignCall extends AnyServerCall, ReplyStream {
  /** Returns the request message. Throws a fault if it is missing or larger than `maxBytes`. */
  message(maxBytes: number): Promise<Buffer>;
  fail(error: CallError): void;
}

/** A call for handlers, with its work context. Dispose it when the call has ended. */
export interface OpenCall extends Disposable {
  readonly call: Call;
  readonly context: WorkContext;
}

/** Represents "no deadline". */
const NO_DEADLINE_MS = 2 ** 31 - 1;

/** Converts a call of grpc-js. */
export function openCall(raw: AnyServerCall, ambient: Ambient, stopping: AbortSignal): OpenCall {
  const header = (name: string): string | undefined => {
    const [value] = raw.metadata.get(name);
    return typeof value === "string" ? value : undefined;
  };
  const caller = new AbortController();
  const onCancelled = (): void => caller.abort(cancelled());
  const onStopping = (): void => caller.abort(abortFault(stopping));
  raw.on("cancelled", onCancelled);
  if (raw.cancelled) onCancelled();
  stopping.addEventListener("abort", onStopping, { once: true });
  if (stopping.aborted) onStopping();
  const deadlineAt = epochOf(raw.getDeadline());
  const deadline = startDeadline(
    ambient,
    deadlineAt === undefined ? NO_DEADLINE_MS : deadlineAt - ambient.clock.now(),
    caller.signal,
  );
  const correlationId = ensureCorrelationId(header(METADATA_KEYS.correlationId), ambient.ids);
  return {
    context: { ...contextFromHeaders(header, ambient.ids), correlationId },
    call: {
      signal: deadline.signal,
      correlationId,
      header,
      remainingMs: () => (deadlineAt === undefined ? undefined : deadline.remainingMs()),
      peer: peerOf(raw),
    },
    [Symbol.dispose]: () => {
      deadline[Symbol.dispose]();
      raw.off("cancelled", onCancelled);
      stopping.removeEventListener("abort", onStopping);
    },
  };
}

/** grpc-js represents "no deadline" as infinity. */
function epochOf(deadline: Date | number): number | undefined {
  const epoch = typeof deadline === "number" ? deadline : deadline.getTime();
  return Number.isFinite(epoch) ? epoch : undefined;
}

function peerOf(raw: AnyServerCall): Peer {
  const certificate = raw.getAuthContext().sslPeerCertificate;
  const address = raw.getPeer();
  if (!certificate?.subject) return { address };
  const { CN } = certificate.subject;
  return {
    address,
    certificate: {
      commonName: Array.isArray(CN) ? CN[0] : CN,
      alternativeNames: (certificate.subjectaltname ?? "").split(", ").filter((name) => name !== ""),
    },
  };
}
