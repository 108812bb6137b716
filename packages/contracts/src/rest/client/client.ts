import { internal } from "@oaas/foundation";
import type { z } from "zod";
import { otherServerFault } from "./other-server.ts";
import { exchange, type CallOptions, type RestClientOptions } from "./send-request.ts";
import { faultFromResponse } from "../faults/fault-from-response.ts";
import { ROUTES, type OperationId } from "../routes/table.ts";
import type { Route } from "../routes/route.ts";
import { readBy } from "../reading/violations.ts";

type Routes = typeof ROUTES;
type ValueOf<A> = A extends { readonly schema: infer S extends z.ZodType } ? z.output<S> : string;
type ResponsesOf<R extends Route> =
  | R["response"]
  | (R extends { readonly otherResponses: readonly (infer A)[] } ? A : never);

/** The response of an operation: its value and headers. */
export interface Reply<Id extends OperationId> {
  readonly status: number;
  readonly value: ValueOf<ResponsesOf<Routes[Id]>>;
  readonly etag: string | null;
  readonly totalCount: number | null;
  readonly nextPageToken: string | null;
  readonly warnings: readonly string[];
}

/** Calls the package manager by operation id. */
export interface RestClient {
  /** Throws the fault of an error response, unavailable without a response, or the signal's fault. */
  call<Id extends OperationId>(id: Id, options?: CallOptions): Promise<Reply<Id>>;
}

/** Creates a client from the route table. It does not retry: that is the caller's policy. */
export function createRestClient(client: RestClientOptions): RestClient {
  return {
    async call<Id extends OperationId>(id: Id, options: CallOptions = {}) {
      const route: Route = ROUTES[id];
      const { method, path, response } = route;
      const { text, retryAfter, isMarked, ...received } = await exchange(
        client,
        { method, path, mediaType: response.mediaType },
        options,
      );
      const { status } = received;
      const other = isMarked ? undefined : otherServerFault(client.baseUrl, id, { status, text });
      if (other !== undefined) throw other;
      const expected = [response, ...(route.otherResponses ?? [])].find((each) => each.status === status);
      if (expected === undefined || (status >= 400 && expected.schema === undefined))
        throw faultFromResponse({ status, body: text, retryAfter, nowMs: client.clock.now() });
      return { ...received, value: valueOf(route, expected.schema, text) as Reply<Id>["value"] };
    },
  };
}

function valueOf(route: Route, schema: z.ZodType | undefined, text: string): unknown {
  if (schema === undefined) return text;
  const notUnderstood = (context: Record<string, unknown>) =>
    internal(`the response to ${route.method} ${route.path} does not match the API contract`, { context });
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw notUnderstood({ cause });
  }
  const read = readBy(schema, body);
  if (!read.ok) throw notUnderstood({ violations: read.error });
  return read.value;
}
