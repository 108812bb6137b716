import { STATUS_CODES, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { HEADERS } from "@oaas/contracts/rest";
import type { Timers } from "@oaas/foundation";
import type { FastifyReply } from "fastify";
import type { HttpReply } from "../handler.ts";
import { encodedEtag } from "../request/preconditions.ts";
import { compress, encodingFor, isCompressible } from "./compression.ts";
import { sendEvents } from "./event-stream.ts";

/** Headers of every response. */
const COMMON_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};
const JSON_TYPE = "application/json; charset=utf-8";

export interface SendOptions {
  readonly timers: Timers;
  /** Event streams that are being sent. */
  readonly streams: Set<ServerResponse>;
}

/** Sends a reply of the pipeline with Fastify. */
export async function sendReply(content: HttpReply, reply: FastifyReply, options: SendOptions): Promise<FastifyReply> {
  const { status, headers, cookies, events } = content;
  if (cookies !== undefined) reply.header("set-cookie", cookies);
  reply.code(status).headers({ ...COMMON_HEADERS, [HEADERS.correlationId]: reply.request.id, ...headers });
  if (events !== undefined) return sendStream(events, reply, options);
  const text = content.json ?? content.content?.text;
  if (text === undefined) return reply.send();
  reply.header("content-type", content.content?.type ?? JSON_TYPE);
  return reply.send(isCompressible(text) ? await negotiated(text, reply) : text);
}

/** The body in the encoding that the client prefers. Each encoding has its own ETag (RFC 9110, 8.8.3.3). */
async function negotiated(text: string | Buffer, reply: FastifyReply): Promise<string | Buffer> {
  reply.header("vary", [reply.getHeader("vary"), "accept-encoding"].filter(Boolean).join(", "));
  const encoding = encodingFor(reply.request.headers["accept-encoding"]?.toString());
  if (encoding === undefined) return text;
  const etag = reply.getHeader(HEADERS.etag);
  if (etag !== undefined) reply.header(HEADERS.etag, encodedEtag(String(etag), encoding));
  reply.header("content-encoding", encoding);
  return compress(text, encoding);
}

function sendStream(events: AsyncIterable<string>, reply: FastifyReply, options: SendOptions): FastifyReply {
  const { timers, streams } = options;
  const { raw, request } = reply;
  reply.type("text/event-stream; charset=utf-8").header("x-accel-buffering", "no");
  if (request.method === "HEAD") return reply.send();
  reply.hijack();
  raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  streams.add(raw);
  void sendEvents(raw, events, timers).finally(() => streams.delete(raw));
  return reply;
}

/** A whole response as text, for a socket whose request could not be parsed. */
export function rawResponse({ status, content }: HttpReply, headers: Readonly<Record<string, string>>): string {
  const { type = "", text = "" } = content ?? {};
  const length = String(Buffer.byteLength(text));
  const head = { ...COMMON_HEADERS, ...headers, "content-type": type, "content-length": length, connection: "close" };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${text}`;
}
