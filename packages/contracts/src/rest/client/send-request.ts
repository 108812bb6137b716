import { abortFault, parseWarnings, unavailable, type Clock } from "@oaas/foundation";
import { HEADERS } from "../routes/headers.ts";
import { fillPath } from "../routes/route.ts";

/** The part of the standard `fetch` that a client needs. */
export type FetchPort = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

export interface RestClientOptions {
  /** URL of the package manager, without a path. */
  readonly baseUrl: string;
  readonly fetch: FetchPort;
  readonly clock: Clock;
  /** Called before every request, so that a renewed token is used. */
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

/** The target of a request. */
interface Place {
  readonly method: string;
  /** With `{name}` for each parameter. */
  readonly path: string;
  /** Media type of the response; undefined for JSON. */
  readonly mediaType: string | undefined;
}

/** A response of any status: its text and headers. */
interface Received {
  readonly status: number;
  readonly text: string;
  readonly etag: string | null;
  readonly totalCount: number | null;
  readonly nextPageToken: string | null;
  readonly retryAfter: string | null;
  /** Problems that did not stop the request, such as unknown fields with `field_validation=warn`. */
  readonly warnings: readonly string[];
  /** Whether it has a correlation id, as every response of the package manager. */
  readonly isMarked: boolean;
}

/** Sends one request and reads the whole response. Throws unavailable without a response, or the signal's fault. */
export async function exchange(client: RestClientOptions, place: Place, options: CallOptions): Promise<Received> {
  const path = fillPath(place.path, options.parameters ?? {});
  const url = client.baseUrl.replace(/(?<!\/)\/+$/, "") + path + queryText(options.query ?? {});
  try {
    const response = await client.fetch(url, requestOf(client, place, options));
    const { status, headers } = response;
    const total = headers.get(HEADERS.totalCount);
    return {
      status,
      text: await response.text(),
      etag: headers.get(HEADERS.etag),
      totalCount: total === null ? null : Number(total),
      nextPageToken: headers.get(HEADERS.nextPageToken),
      retryAfter: headers.get(HEADERS.retryAfter),
      warnings: parseWarnings(headers.get(HEADERS.warning) ?? ""),
      isMarked: headers.get(HEADERS.correlationId) !== null,
    };
  } catch (cause) {
    if (options.signal?.aborted) throw abortFault(options.signal);
    const what = `${place.method} ${place.path}`;
    throw unavailable("package-manager", `the package manager did not respond to ${what}`, { cause });
  }
}

function requestOf(client: RestClientOptions, { method, mediaType }: Place, options: CallOptions): FetchInit {
  const token = client.token?.();
  const hasBody = options.body !== undefined;
  return {
    method,
    headers: {
      accept: `${mediaType ?? "application/json"}, application/problem+json`,
      ...(hasBody ? { "content-type": "application/json" } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...options.headers,
    },
    ...(hasBody ? { body: JSON.stringify(options.body) } : {}),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
}

function queryText(query: NonNullable<CallOptions["query"]>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? (value as readonly string[]) : [value]) search.append(name, String(item));
  }
  return search.size === 0 ? "" : `?${search.toString()}`;
}
