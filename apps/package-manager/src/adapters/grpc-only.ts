import { createServer, type Server } from "node:http";

/** What answers plain HTTP on the port of gRPC: where to go instead. */
export function grpcOnly(): Server {
  return createServer((_, response) => {
    response.writeHead(404, { "content-type": "text/plain" });
    response.end("This port speaks gRPC; REST is on SERVER_PORT.\n");
  });
}
