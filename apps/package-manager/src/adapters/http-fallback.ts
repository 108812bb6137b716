import type { RequestListener } from "@oaas/rpc";

/** Answers plain HTTP on the gRPC port with the port to use. */
export const respondWithPort: RequestListener = (_, response) => {
  response.writeHead(404, { "content-type": "text/plain" });
  response.end("This port serves gRPC; REST is on SERVER_PORT.\n");
};
