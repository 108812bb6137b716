// A minimal gRPC server over HTTP/2 for unary calls.
import { createServer } from "node:http2";
import { finished } from "node:stream/promises";
import { readRequest, STATUS, writeResponse } from "./protocol.mjs";

const METHODS = new Set(["/oprc.OprcFunction/InvokeFn", "/oprc.OprcFunction/InvokeObj"]);
const MAX_BYTES = 4 * 1024 * 1024;
const GRPC = { ok: 0, invalidArgument: 3, resourceExhausted: 8, unimplemented: 12, internal: 13 };

/** An error with a gRPC status, raised before a function is called. */
class Rejection extends Error {
  /**
   * @param {number} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/**
 * Creates a server for the given functions; the caller starts it with `listen`.
 * @param {typeof import("./functions.mjs").functions} functions
 */
export function functionServer(functions) {
  const server = createServer();
  server.on("stream", (stream, headers) => {
    stream.on("error", () => stream.destroy());
    void serve(stream, String(headers[":path"]), functions);
  });
  return server;
}

/**
 * @param {import("node:http2").ServerHttp2Stream} stream
 * @param {string} path
 * @param {typeof import("./functions.mjs").functions} functions
 */
async function serve(stream, path, functions) {
  let [code, message] = [GRPC.ok, ""];
  let answer;
  try {
    if (!METHODS.has(path)) throw new Rejection(GRPC.unimplemented, `unknown method ${path}`);
    answer = await invoke(functions, requestOf(await messageOf(stream)));
  } catch (thrown) {
    [code, message] = thrown instanceof Rejection ? [thrown.code, thrown.message] : [GRPC.internal, String(thrown)];
  }
  if (stream.destroyed) return;
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () =>
    stream.sendTrailers({ "grpc-status": String(code), "grpc-message": encodeURIComponent(message) }),
  );
  stream.end(answer === undefined ? undefined : framed(answer));
}

/**
 * @param {typeof import("./functions.mjs").functions} functions
 * @param {ReturnType<typeof readRequest>} request
 */
async function invoke(functions, { fn, payload, object }) {
  const text = (/** @type {string} */ words) => new TextEncoder().encode(words);
  const found = Object.hasOwn(functions, fn) ? functions[fn] : undefined;
  if (!found) {
    const known = Object.keys(functions).join(", ");
    return writeResponse({
      payload: text(`unknown function "${fn}"; available: ${known}`),
      status: STATUS.invalidRequest,
    });
  }
  try {
    return writeResponse({ payload: await found(payload, object), status: STATUS.okay });
  } catch (thrown) {
    const words = thrown instanceof Error ? thrown.message : String(thrown);
    return writeResponse({ payload: text(words), status: STATUS.appError });
  }
}

/** @param {Uint8Array} bytes */
function requestOf(bytes) {
  try {
    return readRequest(bytes);
  } catch (thrown) {
    throw new Rejection(GRPC.invalidArgument, thrown instanceof Error ? thrown.message : String(thrown));
  }
}

/**
 * Reads the message of a call: one byte for compression, four bytes for the length, then the message.
 * @param {import("node:http2").ServerHttp2Stream} stream
 */
async function messageOf(stream) {
  /** @type {Buffer[]} */
  const parts = [];
  let size = 0;
  // Read an oversized message to its end without keeping it, so that the caller receives the error.
  stream.on("data", (/** @type {Buffer} */ part) => {
    size += part.length;
    if (size <= MAX_BYTES) parts.push(part);
  });
  await finished(stream, { writable: false });
  if (size > MAX_BYTES) throw new Rejection(GRPC.resourceExhausted, `a message is limited to ${MAX_BYTES} bytes`);
  const all = Buffer.concat(parts);
  if (all.length < 5 || all.length !== 5 + all.readUInt32BE(1))
    throw new Rejection(GRPC.invalidArgument, "a call must contain exactly one complete message");
  if (all[0] !== 0) throw new Rejection(GRPC.unimplemented, "compressed messages are not supported");
  return new Uint8Array(all.subarray(5));
}

/** @param {Uint8Array} message */
function framed(message) {
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}
