import { sleep, type Timers } from "@oaas/foundation";
import type { Status } from "@oaas/kube-core";
import type { Api, ApiRequest, ApiResponse } from "../api.ts";
import { ConnectionLost } from "../memory-transport.ts";
import { statusResponse } from "../request/response/responses.ts";
import { expired, statusObject } from "../request/response/status-errors.ts";
import { createStaleResponse } from "./stale-read.ts";

/** Injected fault of a request. */
export type FaultAction =
  /** Delays the request. */
  | { readonly kind: "delay"; readonly ms: number }
  /** Rejects the request without executing it. */
  | { readonly kind: "error"; readonly status: Status }
  /** Breaks the connection: before the request is executed, or after it, so that only the response is lost. */
  | { readonly kind: "drop"; readonly when: "before" | "after" }
  /** Serves a read from an older revision. */
  | { readonly kind: "stale"; readonly revisionsBack: number }
  /** Ends a watch after this many chunks; with an ERROR event for an expired version, or as a lost connection. */
  | { readonly kind: "cut"; readonly afterChunks: number; readonly as: "expired" | "lost" }
  /** Reports the version as too old. */
  | { readonly kind: "expired" };

/** Chooses the fault of each request; undefined for none. Seeded when it must be repeatable. */
export type FaultSelector = (request: ApiRequest) => FaultAction | undefined;

/** An API with injected faults, for tests of clients. */
export function faultyApi(api: Api, timers: Timers, selectFault: FaultSelector): Api {
  return {
    handle: async (request) => {
      const fault = selectFault(request);
      return fault === undefined ? api.handle(request) : applyFault(api, timers, request, fault);
    },
  };
}

async function applyFault(api: Api, timers: Timers, request: ApiRequest, fault: FaultAction): Promise<ApiResponse> {
  switch (fault.kind) {
    case "delay":
      await sleep(timers, fault.ms, request.signal);
      return api.handle(request);
    case "error":
      return statusResponse(fault.status);
    case "drop":
      if (fault.when === "after") await api.handle(request);
      throw new ConnectionLost("the connection was dropped on purpose");
    case "stale":
      return createStaleResponse(api, request, fault.revisionsBack);
    case "cut": {
      const response = await api.handle(request);
      return typeof response.body === "string" ? response : { ...response, body: cutStream(response.body, fault) };
    }
    case "expired":
      return statusResponse(expired("The resourceVersion for the provided watch is too old."));
  }
}

async function* cutStream(
  chunks: AsyncIterable<string | Uint8Array>,
  { afterChunks, as }: Extract<FaultAction, { readonly kind: "cut" }>,
): AsyncGenerator<string | Uint8Array> {
  let seen = 0;
  if (seen < afterChunks) {
    for await (const chunk of chunks) {
      yield chunk;
      seen += 1;
      if (seen >= afterChunks) break;
    }
  }
  if (as === "lost") throw new ConnectionLost("the watch was cut on purpose");
  const status = statusObject(expired("The resourceVersion for the provided watch is too old."));
  yield `${JSON.stringify({ type: "ERROR", object: status })}\n`;
}
