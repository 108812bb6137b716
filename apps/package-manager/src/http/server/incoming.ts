import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Incoming } from "../pipeline.ts";
import { parametersOf } from "./paths.ts";

const NO_BODY = Buffer.alloc(0);

/** A request of Fastify as the pipeline reads it. */
export function incomingOf(request: FastifyRequest, { raw: response }: FastifyReply): Incoming {
  const headers = request.raw.headersDistinct;
  return {
    url: request.url,
    address: request.ip,
    correlationId: request.id,
    parameters: parametersOf(request),
    query: request.query as Incoming["query"],
    body: (request.body as Buffer | undefined) ?? NO_BODY,
    header: (name) => headers[name]?.[0],
    list: (name) => headers[name]?.join(", "),
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
