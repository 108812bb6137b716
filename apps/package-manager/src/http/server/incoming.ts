import type { ServerResponse } from "node:http";
import { readHttpHead } from "@oaas/rpc";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { RequestContent, RequestHead } from "../pipeline.ts";
import { parametersOf } from "./paths.ts";

const NO_BODY = Buffer.alloc(0);

/** The head of a request of Fastify as the pipeline reads it. */
export function headOf({ raw, url, ip, id }: FastifyRequest): RequestHead {
  const headers = raw.headersDistinct;
  return {
    url,
    address: ip,
    certificate: () => readHttpHead(raw).peer.certificate,
    correlationId: id,
    hasBody: raw.headers["transfer-encoding"] !== undefined || Number(raw.headers["content-length"] ?? 0) > 0,
    header: (name) => headers[name]?.[0],
    list: (name) => headers[name]?.join(", "),
  };
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
