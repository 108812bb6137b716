import type { ROUTES, OperationId } from "@oaas/contracts/rest";
import type { z } from "zod";
import type { Once } from "../use-cases.ts";
import type { VersionCondition } from "../use-cases.ts";
import type { HttpCall } from "./http-call.ts";

/** Operations with a handler of their own: offered, and no other spelling of another one. */
export type OwnOperation = {
  [Id in OperationId]: (typeof ROUTES)[Id] extends { readonly aliasOf: string } | { readonly offered: false }
    ? never
    : Id;
}[OperationId];

type QueryOf<Id extends OperationId> = (typeof ROUTES)[Id] extends { readonly query: infer Q extends z.ZodType }
  ? z.output<Q>
  : undefined;
type BodyOf<Id extends OperationId> = (typeof ROUTES)[Id] extends { readonly body: infer B extends z.ZodType }
  ? z.output<B>
  : undefined;

/** A request that was read: everything in it is what the contract says. */
export interface HttpRequest<Id extends OperationId = OperationId> {
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
  readonly call: HttpCall;
  /** From If-Match and If-None-Match. */
  readonly ifVersion: VersionCondition | undefined;
  readonly lastEventId: string | undefined;
  /** Of a request with an idempotency key. */
  readonly once: Once | undefined;
}

/** An answer. Without content it has no body. */
export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, already written: a text, or its bytes in UTF-8. */
  readonly json?: string | Buffer;
  /** Anything else, with its media type. */
  readonly content?: { readonly type: string; readonly text: string };
  /** Server-sent events, one text each. Ends when the reader goes. */
  readonly events?: AsyncIterable<string>;
}

export type Handler<Id extends OperationId> = (request: HttpRequest<Id>) => Promise<HttpReply>;

/** A handler for each of these operations. */
export type Handlers<Ids extends OperationId = OwnOperation> = { readonly [Id in Ids]: Handler<Id> };

/** An answer with a JSON body. */
export function json(value: unknown, headers?: Readonly<Record<string, string>>, status = 200): HttpReply {
  const text = JSON.stringify(value);
  return headers === undefined ? { status, json: text } : { status, json: text, headers };
}
