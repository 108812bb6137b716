import { abortFault, internal, unavailable, type Clock } from "@oaas/foundation";
import type { z } from "zod";
import { faultFromAnswer } from "./fault-from-answer.ts";
import { HEADERS } from "./headers.ts";
import { ROUTES, type OperationId } from "./paths.ts";
import { fillPath, type Route } from "./route.ts";
import { readBy } from "./violations.ts";

/** The part of `fetch` that the client needs; the standard function fits. */
export type FetchPort = (url: string, init: FetchInit) => Promise<FetchAnswer>;

export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

export interface RestClientOptions {
  /** Where PM answers, without a path. */
  readonly baseUrl: string;
  readonly fetch: FetchPort;
  readonly clock: Clock;
  /** Asked before every call, so that a renewed token is used. */
  readonly token?: () => string | undefined;
}

export interface CallOptions {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  readonly body?: unknown;
  /** Such as if-match, idempotency-key, x-correlation-id. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

type Routes = typeof ROUTES;
type ValueOf<A> = A extends { readonly schema: infer S extends z.ZodType } ? z.output<S> : string;
type AnswersOf<R extends Route> = R["answer"] | (R extends { readonly otherAnswers: readonly (infer A)[] } ? A : never);

/** What a call gives: the value of one of the operation's answers, and what only headers say. */
export interface Reply<Id extends OperationId> {
  readonly status: number;
  readonly value: ValueOf<AnswersOf<Routes[Id]>>;
  readonly etag: string | null;
  readonly totalCount: number | null;
  readonly nextPageToken: string | null;
}

/** Calls PM by operation id. */
export interface RestClient {
  /** Throws the fault that PM answered, or unavailable when it did not answer, or the signal's fault. */
  call<Id extends OperationId>(id: Id, options?: CallOptions): Promise<Reply<Id>>;
}

/** Makes a client from the route table. It neither retries nor waits: that is the caller's policy. */
export function createRestClient(client: RestClientOptions): RestClient {
  return {
    async call<Id extends OperationId>(id: Id, options: CallOptions = {}) {
      const route: Route = ROUTES[id];
      const answer = await exchange(client, route, options);
      const text = await answer.text().catch((thrown: unknown) => {
        throw unreached(route, options.signal, thrown);
      });
      const expected = [route.answer, ...(route.otherAnswers ?? [])].find(({ status }) => status === answer.status);
      if (expected === undefined || (answer.status >= 400 && expected.schema === undefined)) {
        throw faultFromAnswer({
          status: answer.status,
          body: text,
          retryAfter: answer.headers.get(HEADERS.retryAfter),
          nowMs: client.clock.now(),
        });
      }
      const total = answer.headers.get(HEADERS.totalCount);
      return {
        status: answer.status,
        value: valueOf(route, expected.schema, text) as Reply<Id>["value"],
        etag: answer.headers.get(HEADERS.etag),
        totalCount: total === null ? null : Number(total),
        nextPageToken: answer.headers.get(HEADERS.nextPageToken),
      };
    },
  };
}

async function exchange(client: RestClientOptions, route: Route, options: CallOptions): Promise<FetchAnswer> {
  const token = client.token?.();
  const hasBody = options.body !== undefined;
  const url = client.baseUrl.replace(/\/+$/, "") + fillPath(route.path, options.parameters ?? {});
  try {
    return await client.fetch(url + queryText(options.query ?? {}), {
      method: route.method,
      headers: {
        accept: `${route.answer.mediaType ?? "application/json"}, application/problem+json`,
        ...(hasBody ? { "content-type": "application/json" } : {}),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...options.headers,
      },
      ...(hasBody ? { body: JSON.stringify(options.body) } : {}),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  } catch (thrown) {
    throw unreached(route, options.signal, thrown);
  }
}

function unreached(route: Route, signal: AbortSignal | undefined, cause: unknown) {
  if (signal?.aborted) return abortFault(signal);
  return unavailable("package-manager", `the package manager did not answer ${route.method} ${route.path}`, { cause });
}

function queryText(query: NonNullable<CallOptions["query"]>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? (value as readonly string[]) : [value]) search.append(name, String(item));
  }
  return search.size === 0 ? "" : `?${search.toString()}`;
}

function valueOf(route: Route, schema: z.ZodType | undefined, text: string): unknown {
  if (schema === undefined) return text;
  const notUnderstood = (context: Record<string, unknown>) =>
    internal(`the answer to ${route.method} ${route.path} is not what the contract says`, { context });
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
