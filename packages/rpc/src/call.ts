import type { CorrelationId } from "@oaas/observability";

/** What a handler knows about the call it answers. */
export interface Call {
  /** Aborts, with a fault, when the caller's deadline is over, the caller gave up, or the server stops. */
  readonly signal: AbortSignal;
  readonly correlationId: CorrelationId;
  /** What is left of the caller's deadline; undefined when it set none. */
  remainingMs(): number | undefined;
  /** A header of the request, by its lower-case name. */
  header(name: string): string | undefined;
  readonly peer: Peer;
}

/** Who is at the other end. */
export interface Peer {
  readonly address: string;
  /** From the client certificate, where one was verified. */
  readonly certificate?: { readonly commonName: string | undefined; readonly alternativeNames: readonly string[] };
}
