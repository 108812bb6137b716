import { createServer, type Server } from "node:http";

/** Answers plain HTTP on the gRPC port with the port to use. */
export function createHttpFallback(): Server {
  return createServer((_, response) => {
    response.writeHead(404, { "content-type": "text/plain" });
    response.end("This port serves gRPC; REST is on SERVER_PORT.\n");
  });
}
