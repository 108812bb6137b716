import type { IncomingMessage, ServerResponse } from "node:http";
import type { CorrelationId } from "@oaas/observability";
import { readHttpHead, type PeerCertificate } from "@oaas/rpc";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { RequestContent, RequestHead } from "../pipeline.ts";
import { parametersOf } from "./paths.ts";

const NO_BODY = Buffer.alloc(0);

/** The head of a request of Fastify as the pipeline reads it. */
export class IncomingHead implements RequestHead {
  readonly url: string;
  readonly address: string;
  readonly correlationId: CorrelationId;
  readonly #raw: IncomingMessage;

  constructor({ raw, url, ip, id }: FastifyRequest) {
    this.url = url;
    this.address = ip;
    this.correlationId = id as CorrelationId;
    this.#raw = raw;
  }

  get hasBody(): boolean {
    return this.header("transfer-encoding") !== undefined || Number(this.header("content-length") ?? 0) > 0;
  }

  certificate(): PeerCertificate | undefined {
    return readHttpHead(this.#raw).peer.certificate;
  }

  header(name: string): string | undefined {
    return firstHeader(this.#raw, name);
  }

  list(name: string): string | undefined {
    return this.#raw.headers[name] === undefined ? undefined : this.#raw.headersDistinct[name]?.join(", ");
  }
}

/**
 * A header; the first one when it was sent several times, which Node joins with commas. `headersDistinct` is built on its
 * first use, so it is used only for such a header.
 */
export function firstHeader(request: IncomingMessage, name: string): string | undefined {
  const joined = request.headers[name];
  if (joined === undefined || (typeof joined === "string" && !joined.includes(","))) return joined;
  return request.headersDistinct[name]?.[0];
}

/** The rest of a request, after its body was read. */
export function contentOf(request: FastifyRequest, { raw: response }: FastifyReply): RequestContent {
  return {
    parameters: parametersOf(request),
    query: request.query as RequestContent["query"],
    body: (request.body as Buffer | undefined) ?? NO_BODY,
    signal: disconnectSignal(response),
  };
}

/** The path and query of a target in absolute form (RFC 9112, 3.2.2). Other forms become a path without a route. */
export function originForm(url: string): string {
  if (url.startsWith("/")) return url;
  const target = url.replace(/^https?:\/\/[^/?#]*/i, "");
  return target.startsWith("/") ? target : `/${target}`;
}

function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    if (!response.writableEnded) controller.abort();
  };
  if (response.destroyed) abort();
  else response.once("close", abort);
  return controller.signal;
}
