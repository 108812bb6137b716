import type { CorrelationId } from "@oaas/observability";
import type { PeerCertificate } from "./peer-certificate.ts";

/** What is known of a call before its request message is read. */
export interface CallHead {
  /** Returns a request header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly peer: Peer;
}

/** Context of a call for its handler. */
export interface Call extends CallHead {
  /** Aborts with a fault at the caller's deadline, when the caller cancels, or when the server stops. */
  readonly signal: AbortSignal;
  readonly correlationId: CorrelationId;
  /** Name of the authorised caller. */
  readonly caller: string;
  /** Returns the time until the caller's deadline; undefined if it set none. */
  remainingMs(): number | undefined;
}

/** The client of a call. */
export interface Peer {
  /** IP address, without the port: all connections of a host have the same. */
  readonly address: string;
  /** Set if a client certificate was verified. */
  readonly certificate?: PeerCertificate;
}
