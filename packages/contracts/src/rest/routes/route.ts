import type { FaultKind } from "@oaas/foundation";
import type { z } from "zod";
import type { RESPONSE_HEADERS } from "../openapi/shared-parts.ts";

/** Path prefix of the versioned API. */
export const BASE = "/api/v1";

/** Media type of server-sent events. */
export const EVENT_STREAM = "text/event-stream";

/** Roles that may call a route; each role includes the ones before it. */
export const ROLES = ["public", "viewer", "deployer", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** A response. Without a schema it has no body, unless the media type is not JSON. */
export interface RouteResponse<Schema extends z.ZodType = z.ZodType> {
  readonly status: number;
  readonly description: string;
  readonly schema?: Schema;
  /** Default: `application/json`. */
  readonly mediaType?: string;
  /** Headers in addition to those derived from the route. */
  readonly headers?: readonly ResponseHeader[];
}

/** Response headers of the OpenAPI document. */
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** One route: the server mounts it, the client calls it, the OpenAPI document describes it. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With `{name}` for each parameter. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly role: Role;
  /** Origin of the route: the second seed document, later versions of the earlier implementation, or this project. */
  readonly since: "seed" | "upstream" | "ours";
  /** The operation that this route is an alias of. */
  readonly aliasOf?: string;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly response: RouteResponse;
  readonly otherResponses?: readonly RouteResponse[];
  /** Fault kinds in addition to those of every route. */
  readonly faults: readonly FaultKind[];
  /** The list is paginated: total count and next page token are in headers. */
  readonly paged?: true;
  /** Accepts If-Match and If-None-Match, and returns ETag. */
  readonly versioned?: true;
  /** Accepts an idempotency key: requests with the same key and body are executed once. */
  readonly idempotent?: true;
  /** False for paths of the earlier implementation that are not implemented; they return 501. */
  readonly offered?: false;
}

/** The parameter names of a path, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
}

/** Fills the parameters of a path. Throws a TypeError when one is missing. */
export function fillPath(path: string, parameters: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name];
    if (value === undefined || value === "") throw new TypeError(`path ${path} needs ${name}`);
    return encodeURIComponent(value);
  });
}
