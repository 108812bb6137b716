import { createServer } from "node:net";
import process from "node:process";
import { functions } from "./functions.mjs";
import { httpServer } from "./http.mjs";
import { functionServer } from "./server.mjs";

/** How an HTTP/2 connection, and so a gRPC call, begins. */
const PREFACE = "PRI * HTTP/2";

const port = Number(process.env.PORT ?? 8080);
const grpc = functionServer(functions);
const http = httpServer(functions, (line) => process.stdout.write(`${line}\n`));
/** @type {Set<import("node:http2").ServerHttp2Session>} */
const sessions = new Set();

grpc.on("session", (session) => {
  sessions.add(session);
  session.once("close", () => sessions.delete(session));
});
// One port for both protocols: the first bytes of a connection decide.
const server = createServer((socket) => {
  socket.on("error", () => socket.destroy());
  socket.once("readable", () => {
    /** @type {Uint8Array | null} */
    const first = socket.read();
    if (first === null) return void socket.destroy();
    socket.unshift(first);
    const isHttp2 = new TextDecoder("latin1").decode(first.subarray(0, PREFACE.length)) === PREFACE;
    (isHttp2 ? grpc : http).emit("connection", socket);
  });
});
server.on("error", (error) => {
  process.stderr.write(`cannot listen on port ${port}: ${error.message}\n`);
  process.exitCode = 1;
});
server.listen(port, process.env.HOST, () => {
  const address = server.address();
  const at = typeof address === "object" && address !== null ? address.port : port;
  process.stdout.write(`${Object.keys(functions).join(", ")} on port ${at}\n`);
});
// Graceful shutdown: finish running calls and accept no new ones.
process.once("SIGTERM", () => {
  server.close();
  http.closeIdleConnections();
  for (const session of sessions) session.close();
});
