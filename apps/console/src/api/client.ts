import { parseOperation } from "@oaas/contracts/rest/plain";
import type { OperationId, QueryParameter } from "@oaas/contracts/rest";
import type { ValueOf } from "./contract.ts";
import { ApiError, errorFromResponse } from "./errors.ts";

export type QueryValue = string | number | boolean | undefined;

interface Target {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
}

export interface CallOptions<Id extends OperationId = OperationId> extends Target {
  /** The server ignores other names. */
  readonly query?: { readonly [Name in QueryParameter<Id>]?: QueryValue };
  /** A JSON value, or a YAML text. */
  readonly body?: object | { readonly yaml: string };
  readonly ifMatch?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Reply<T> {
  readonly value: T;
  readonly status: number;
  readonly etag: string | null;
  readonly total: number;
  readonly nextPageToken: string | null;
}

/** In memory only: a page that is loaded again asks for the session again. */
let csrfToken: string | null = null;
let onUnauthorized: (() => void) | undefined;

export function setCsrfToken(token: string | null): void {
  csrfToken = token;
}

/** Calls `listener` when a request is rejected because the session has ended. */
export function listenForUnauthorized(listener: () => void): void {
  onUnauthorized = listener;
}

/** Calls an operation of the REST API. Throws an `ApiError` for an error response and for no response. */
export async function call<Id extends OperationId>(id: Id, options: CallOptions<Id> = {}): Promise<Reply<ValueOf<Id>>> {
  const { method, path } = parseOperation(id);
  return send<ValueOf<Id>>(method, path, options);
}

/** The value of an operation, for queries. */
export async function fetchValue<Id extends OperationId>(id: Id, options: CallOptions<Id> = {}): Promise<ValueOf<Id>> {
  return (await call(id, options)).value;
}

/** Sends a request to a path with `{name}` for each parameter. */
async function send<T>(method: string, path: string, options: CallOptions = {}): Promise<Reply<T>> {
  const response = await request(method, path, options);
  const text = await response.text().catch(() => "");
  const { headers, status } = response;
  if (status >= 400) {
    if (status === 401 && !path.endsWith("/session")) onUnauthorized?.();
    throw errorFromResponse(status, text, headers.get("retry-after"));
  }
  return {
    value: (text === "" ? undefined : parsed(text, status)) as T,
    status,
    etag: headers.get("etag"),
    total: Number(headers.get("x-total-count") ?? 0),
    nextPageToken: headers.get("x-next-page-token"),
  };
}

async function request(method: string, path: string, options: CallOptions): Promise<Response> {
  const { body, signal } = options;
  const yaml = body !== undefined && "yaml" in body && typeof body.yaml === "string" ? body.yaml : undefined;
  try {
    return await fetch(urlOf(path, options), {
      method,
      headers: {
        accept: "application/json, application/problem+json",
        ...(body === undefined ? {} : { "content-type": yaml === undefined ? "application/json" : "application/yaml" }),
        ...(method !== "GET" && csrfToken !== null ? { "x-csrf-token": csrfToken } : {}),
        ...(options.ifMatch === undefined ? {} : { "if-match": options.ifMatch }),
      },
      ...(body === undefined ? {} : { body: yaml ?? JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { detail: "The package manager does not respond." });
  }
}

/** The path of a call with its parameters and query. */
export function urlOf(path: string, { path: parameters = {}, query = {} }: Target): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ""));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") search.set(name, String(value));
  }
  return search.size === 0 ? filled : `${filled}?${search.toString()}`;
}

function parsed(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(status, {
      detail: "The response is not JSON: a proxy answered instead of the package manager.",
    });
  }
}
