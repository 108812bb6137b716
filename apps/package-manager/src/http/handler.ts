import type { ROUTES, OperationId } from "@oaas/contracts/rest";
import type { PeerCertificate } from "@oaas/rpc";
import type { z } from "zod";
import type { Call, IdempotencyRecord, VersionCondition } from "../use-cases.ts";

/** Operations with their own handler: offered, and not an alias of another one. */
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

/** The parts of the head of a request that tell who sent it. */
export interface SenderHead {
  readonly address: string;
  /** The verified client certificate, if there is one. */
  certificate(): PeerCertificate | undefined;
  /** A header; the first one when it was sent several times. */
  header(name: string): string | undefined;
}

/** A validated request. */
export interface HttpRequest<Id extends OperationId = OperationId> {
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
  /** Whether responses contain secrets in settings; else they are masked. */
  readonly showsSecrets: boolean;
  /** The signal aborts when the client disconnects. */
  readonly call: Call & { readonly signal: AbortSignal };
  /** From If-Match and If-None-Match. */
  readonly ifVersion: VersionCondition | undefined;
  readonly lastEventId: string | undefined;
  readonly sender: SenderHead;
  /** The media types that the client accepts. */
  readonly accept: string | undefined;
  /** Of a request with an idempotency key. */
  readonly idempotency: IdempotencyRecord | undefined;
}

/** A response; without json, content and events it has no body. */
export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Set-Cookie headers. */
  readonly cookies?: readonly string[];
  /** Serialised JSON, as text or UTF-8. */
  readonly json?: string | Buffer;
  /** A body of another media type. */
  readonly content?: { readonly type: string; readonly text: string };
  /** Server-sent events, one text each, until the client disconnects. */
  readonly events?: AsyncIterable<string>;
  /** The objects that a write changed, for the audit trail, when the URL does not name them. */
  readonly auditTarget?: string;
}

export type Handler<Id extends OperationId> = (request: HttpRequest<Id>) => Promise<HttpReply>;

/** A handler for each operation. */
export type Handlers = { readonly [Id in OwnOperation]: Handler<Id> };

/** The handlers of the operations with one of these tags. */
export type HandlersOf<Tag extends string> = {
  readonly [Id in OwnOperation as (typeof ROUTES)[Id]["tag"] extends Tag ? Id : never]: Handler<Id>;
};

/** A response with a JSON body. */
export function json(value: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): HttpReply {
  return { status, headers, json: JSON.stringify(value) };
}
