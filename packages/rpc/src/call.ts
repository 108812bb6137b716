import type { CorrelationId } from "@oaas/observability";

/** Context of a call for its handler. */
export interface Call {
  /** Aborts with a fault at the caller's deadline, when the caller cancels, or when the server stops. */
  readonly signal: AbortSignal;
  readonly correlationId: CorrelationId;
  /** Returns the time until the caller's deadline; undefined if it set none. */
  remainingMs(): number | undefined;
  /** Returns a request header by its lower-case name. */
  header(name: string): string | undefined;
  readonly peer: Peer;
}

/** The client of a call. */
export interface Peer {
  readonly address: string;
  /** Set if a client certificate was verified. */
  readonly certificate?: { readonly commonName: string | undefined; readonly alternativeNames: readonly string[] };
}
