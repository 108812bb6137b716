import { abortFault, orAbort } from "@oaas/foundation";
import type { HttpRequest, HttpResponse, Transport } from "../client/transport.ts";

/** The response of a scripted server. A fault simulates a broken connection; "hang" one that never responds. */
export type Answer = { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> };

/** A transport that calls a function. Requests are recorded in `sent`. */
export interface ScriptedTransport extends Transport {
  readonly sent: HttpRequest[];
}

/**
 * Responds to each request with `handle`: a response, "hang", or a thrown fault. Aborts are noticed as over a network.
 */
export function scriptedTransport(
  handle: (request: HttpRequest) => Answer | "hang" | Promise<Answer | "hang">,
): ScriptedTransport {
  const sent: HttpRequest[] = [];
  return {
    sent,
    send: async (request) => {
      sent.push(request);
      if (request.signal.aborted) throw abortFault(request.signal);
      const answer = await orAbort(Promise.resolve(handle(request)), request.signal);
      if (answer === "hang") return orAbort(new Promise<never>(() => undefined), request.signal);
      return responseOf(answer, request.signal);
    },
    close: async () => undefined,
  };
}

function responseOf({ status, body = {}, headers = {} }: Answer, signal: AbortSignal): HttpResponse {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    status,
    headers,
    text: () => (text === "hang" ? orAbort(new Promise<never>(() => undefined), signal) : Promise.resolve(text)),
    chunks: async function* () {
      yield new TextEncoder().encode(text);
    },
  };
}
