import { orAbort } from "@oaas/foundation";
import type { PrometheusRequest, PrometheusResponse, PrometheusTransport } from "../transport.ts";

/** The answer of a scripted server; a thrown fault simulates a broken connection, "hang" one that never answers. */
export interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A transport that calls a function, and records requests. */
export function scriptedServer(
  handle: (request: PrometheusRequest) => Answer | "hang",
): PrometheusTransport & { readonly sent: PrometheusRequest[] } {
  const sent: PrometheusRequest[] = [];
  return {
    sent,
    send: async (request) => {
      sent.push(request);
      const answer = handle(request);
      if (answer === "hang") return orAbort(new Promise<PrometheusResponse>(() => undefined), request.signal);
      const { status = 200, body = "", headers = {} } = answer;
      const bytes = new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
      return {
        status,
        headers,
        // Small chunks cut multi-byte characters.
        chunks: async function* () {
          for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
        },
      };
    },
    close: async () => undefined,
  };
}

/** The body of a successful range query. */
export function matrix(
  rows: readonly (readonly [Record<string, string>, readonly (readonly [number, string])[]])[],
): object {
  const result = rows.map(([metric, values]) => ({ metric, values }));
  return { status: "success", data: { resultType: "matrix", result } };
}
