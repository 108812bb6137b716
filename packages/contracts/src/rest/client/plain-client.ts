import { internal } from "@oaas/foundation";
import type { Reply, RestClient } from "./client.ts";
import { exchange, type CallOptions, type RestClientOptions } from "./send-request.ts";
import { OPERATIONS } from "./gen/operations.ts";
import type { OperationId } from "../routes/table.ts";

/**
 * A client without schemas, for programs that start for one call: building the schemas takes longer than the call. It
 * validates only responses that may come from another server; errors are handled as in `createRestClient`.
 */
export function createPlainClient(client: RestClientOptions): RestClient {
  return {
    async call<Id extends OperationId>(id: Id, options: CallOptions = {}) {
      const { method, path, statuses, mediaType } = parseOperation(id);
      const { text, retryAfter, isMarked, ...received } = await exchange(client, { method, path, mediaType }, options);
      const { status } = received;
      if (!isMarked) {
        // The schemas load only for a response that may come from another server.
        const { otherServerFault } = await import("./other-server.ts");
        const fault = otherServerFault(client.baseUrl, id, { status, text });
        if (fault !== undefined) throw fault;
      }
      if (!statuses.has(status)) {
        const { faultFromResponse } = await import("../faults/fault-from-response.ts");
        throw faultFromResponse({ status, body: text, retryAfter, nowMs: client.clock.now() });
      }
      const isText = mediaType !== undefined || status === 204 || status === 302;
      return { ...received, value: (isText ? text : parsed(text, `${method} ${path}`)) as Reply<Id>["value"] };
    },
  };
}

function parsed(text: string, call: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw internal(`the response to ${call} does not match the API contract`, { context: { cause } });
  }
}

/** Method, path, success statuses and media type (if not JSON), parsed from the generated line of a route. */
export function parseOperation(id: OperationId) {
  const [method = "", path = "", ...rest] = OPERATIONS[id].split(" ");
  const isStatus = (word: string): boolean => /^\d+$/.test(word);
  return {
    method,
    path,
    statuses: new Set(rest.filter(isStatus).map(Number)) as ReadonlySet<number>,
    mediaType: rest.find((word) => !isStatus(word)),
  };
}
