import type { Call } from "../use-cases.ts";
import type { Incoming } from "./pipeline.ts";

/**
 * Who asks, and why. A class and not an object with a getter of its own: such an object would keep its request alive until the
 * next full collection, as V8 keeps the getter with the object's form.
 */
export class HttpCall implements Call {
  readonly caller: string;
  readonly correlationId: string;
  readonly reason?: string;
  readonly #incoming: Incoming;

  constructor(
    incoming: Incoming,
    asker: { readonly caller: string; readonly correlationId: string },
    reason: string | undefined,
  ) {
    this.#incoming = incoming;
    this.caller = asker.caller;
    this.correlationId = asker.correlationId;
    if (reason !== undefined) this.reason = reason;
  }

  /** Aborts when the client goes; watched only when somebody asks. */
  get signal(): AbortSignal {
    return this.#incoming.gone;
  }

  /** The same call for a reason that its body gives; the call itself when it gives none. */
  because(reason: string | undefined): HttpCall {
    return reason === undefined ? this : new HttpCall(this.#incoming, this, reason);
  }
}
