import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { PeerCertificate, TLSSocket } from "node:tls";
import type { Metadata, ServerUnaryCall } from "@grpc/grpc-js";
import { METADATA_KEYS } from "@oaas/contracts/grpc";
import { abortFault, cancelled, startDeadline, type Ambient } from "@oaas/foundation";
import { contextFromHeaders, ensureCorrelationId, type WorkContext } from "@oaas/observability";
import type { Call, CallHead, Peer } from "./call.ts";
import { readPeerCertificate } from "./peer-certificate.ts";

/** The members of a grpc-js call that the server uses. */
export interface AnyServerCall extends Pick<
  ServerUnaryCall<Buffer, Buffer>,
  "cancelled" | "getDeadline" | "getAuthContext" | "getPeer" | "sendMetadata"
> {
  readonly metadata: { get(name: string): readonly (string | Buffer)[] };
  on(event: "cancelled", listener: () => void): unknown;
  off(event: "cancelled", listener: () => void): unknown;
}

/** Target of a streaming response. `onSent` is called when the message has left the buffers of this process. */
export interface ReplyStream {
  write(message: Buffer, onSent?: () => void): unknown;
  end(): void;
}

/** Error of a call in the format of grpc-js, which reads code, details and trailing metadata from it. */
export interface CallError extends Error {
  readonly code: number;
  readonly details: string;
  readonly metadata: Metadata;
}

/** A call for handlers, with its work context. Dispose it when the call has ended. */
export interface OpenCall extends Disposable {
  /** Without its caller, who is not authorised yet. */
  readonly call: Omit<Call, "caller">;
  readonly context: WorkContext;
}

/** Represents "no deadline". */
const NO_DEADLINE_MS = 2 ** 31 - 1;

/** Reads headers and peer of a call of grpc-js. */
export function readCallHead(
  raw: Pick<AnyServerCall, "getPeer" | "getAuthContext">,
  metadata: AnyServerCall["metadata"],
): CallHead {
  return {
    peer: peerOf(raw),
    header: (name) => {
      const [value] = metadata.get(name);
      return typeof value === "string" ? value : undefined;
    },
  };
}

/** Reads headers and peer of an HTTP request. */
export function readHttpHead({ headers, socket }: IncomingMessage): CallHead {
  const certificate = verifiedCertificate(socket);
  return {
    peer: {
      address: plainAddress(socket.remoteAddress ?? "unknown"),
      ...(certificate?.subject ? { certificate: readPeerCertificate(certificate) } : {}),
    },
    header: (name) => [headers[name]].flat()[0],
  };
}

/** The client certificate of a socket, if it was verified. */
export function verifiedCertificate(socket: Socket): PeerCertificate | undefined {
  const { authorized } = socket as Partial<TLSSocket>;
  return authorized ? (socket as TLSSocket).getPeerCertificate() : undefined;
}

/** Converts a call of grpc-js. */
export function openCall(raw: AnyServerCall, ambient: Ambient, stopping: AbortSignal): OpenCall {
  const { header, peer } = readCallHead(raw, raw.metadata);
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
    context: contextFromHeaders(correlationId, header),
    call: {
      signal: deadline.signal,
      correlationId,
      header,
      remainingMs: () => (deadlineAt === undefined ? undefined : deadline.remainingMs()),
      peer,
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

function peerOf(raw: Pick<AnyServerCall, "getPeer" | "getAuthContext">): Peer {
  const certificate = raw.getAuthContext().sslPeerCertificate;
  const address = addressOf(raw.getPeer());
  return certificate?.subject ? { address, certificate: readPeerCertificate(certificate) } : { address };
}

/** Removes the port of `address:port`. */
function addressOf(peer: string): string {
  return plainAddress(peer.replace(/:\d+$/, ""));
}

/** Removes the prefix of an IPv4 address on an IPv6 socket. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}
