/** Reference servers in another process that return the same bytes for every request. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fastify } from "fastify";
import { cpuMillis } from "../kube/programs/process-figures.ts";
import { serveRequests } from "./helper.ts";

/** The server to start and its response; nothing to query the CPU time. */
export interface Constant {
  readonly by: "node:http" | "fastify";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A server that reads the request and sends a constant response. */
async function bare({ status, headers, body }: Constant): Promise<number> {
  const server = createServer((request, response) => {
    const respond = (): void => void response.writeHead(status, headers).end(body);
    if (request.method === "GET") respond();
    else request.resume().once("end", respond);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function framed({ status, headers, body }: Constant): Promise<number> {
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_, bytes, done) => done(null, bytes));
  app.all("/*", async (_, reply) => reply.code(status).headers(headers).send(body));
  await app.listen({ port: 0, host: "127.0.0.1", listenTextResolver: () => "" });
  return (app.server.address() as AddressInfo).port;
}

serveRequests((requested: Constant | { readonly by?: undefined }) => {
  if (requested.by === undefined) return cpuMillis();
  return requested.by === "fastify" ? framed(requested) : bare(requested);
});
