// The same functions over plain HTTP/1.1, for `oaas invoke`, curl and browsers: POST /greet, or POST / with the header
// `oaas-function`. The body is the payload.
import { createServer } from "node:http";
import { finished } from "node:stream/promises";

const MAX_BYTES = 4 * 1024 * 1024;

/**
 * @param {typeof import("./functions.mjs").functions} functions
 * @param {(line: string) => void} log
 */
export function httpServer(functions, log) {
  return createServer((request, response) => {
    void serve(request, functions).then(({ status, body }) => {
      log(`${request.method} ${request.url} ${status}`);
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "content-length": body.length });
      response.end(body);
    });
  });
}

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {typeof import("./functions.mjs").functions} functions
 */
async function serve(request, functions) {
  const payload = await bodyOf(request);
  if (payload === undefined) return reply(413, `a body is limited to ${MAX_BYTES} bytes`);
  const name = functionIn(request);
  const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (!found) return reply(404, `unknown function "${name}"; available: ${Object.keys(functions).join(", ")}`);
  try {
    return { status: 200, body: Buffer.from(await found(payload, undefined)) };
  } catch (thrown) {
    return reply(400, thrown instanceof Error ? thrown.message : String(thrown));
  }
}

/** @param {import("node:http").IncomingMessage} request */
function functionIn({ url = "/", headers }) {
  const [path = ""] = url.split("?");
  return path === "/" ? String(headers["oaas-function"] ?? "") : path.slice(1);
}

/**
 * @param {number} status
 * @param {string} text
 */
function reply(status, text) {
  return { status, body: Buffer.from(`${text}\n`) };
}

/**
 * Reads an oversized body to its end without keeping it, so that the caller receives the error.
 * @param {import("node:http").IncomingMessage} request
 */
async function bodyOf(request) {
  /** @type {Buffer[]} */
  const parts = [];
  let size = 0;
  request.on("data", (/** @type {Buffer} */ part) => {
    size += part.length;
    if (size <= MAX_BYTES) parts.push(part);
  });
  await finished(request, { writable: false }).catch(() => undefined);
  return size > MAX_BYTES ? undefined : new Uint8Array(Buffer.concat(parts));
}
