import type { FaultKind } from "@oaas/foundation";
import type { z } from "zod";
import type { RESPONSE_HEADERS } from "../openapi/shared-parts.ts";

/** Path prefix of the versioned API. */
export const BASE = "/api/v1";

/** Media type of server-sent events. */
export const EVENT_STREAM = "text/event-stream";

/** Who may call a route when credentials are asked for; each role may do what the ones before it may. */
export const ROLES = ["public", "viewer", "deployer", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** A successful answer. Without a schema it has no body, unless its media type says that it is not JSON. */
export interface Answer<Schema extends z.ZodType = z.ZodType> {
  readonly status: number;
  readonly description: string;
  readonly schema?: Schema;
  /** `application/json` unless it says otherwise. */
  readonly mediaType?: string;
  /** Headers that it has beyond those that follow from the route. */
  readonly headers?: readonly AnswerHeader[];
}

/** Headers of answers that the OpenAPI document explains. */
export type AnswerHeader = keyof typeof RESPONSE_HEADERS;

/** One route as data: the server mounts it, the client calls it, the OpenAPI document describes it. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With `{name}` for each parameter. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly role: Role;
  /** Where the route comes from: the second seed document, the earlier implementation's later versions, or ourselves. */
  readonly since: "seed" | "upstream" | "ours";
  /** The operation of which this is another spelling. */
  readonly aliasOf?: string;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly answer: Answer;
  readonly otherAnswers?: readonly Answer[];
  /** Refusals beyond those that every route may give. */
  readonly faults: readonly FaultKind[];
  /** The list is paged: total count and next page are in headers. */
  readonly paged?: true;
  /** Takes If-Match and If-None-Match, and gives ETag. */
  readonly versioned?: true;
  /** Takes an idempotency key: the same key and body are carried out once. */
  readonly idempotent?: true;
  /** False for paths of the earlier implementation that we know and do not offer; they answer 501. */
  readonly offered?: false;
}

/** The names of a path's parameters, in their order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
}

/** Puts values in the place of a path's parameters; throws when one is missing, for that is a mistake of the caller. */
export function fillPath(path: string, parameters: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name];
    if (value === undefined || value === "") throw new TypeError(`path ${path} needs ${name}`);
    return encodeURIComponent(value);
  });
}
