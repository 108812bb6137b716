/** Reference servers in another process that answer every request with the same bytes. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fastify } from "fastify";
import { cpuMillis } from "../kube/programs/process-figures.ts";
import { answerQuestions } from "./helper.ts";

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
    const answer = (): void => void response.writeHead(status, headers).end(body);
    if (request.method === "GET") answer();
    else request.resume().once("end", answer);
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

answerQuestions((question: Constant | { readonly by?: undefined }) => {
  if (question.by === undefined) return cpuMillis();
  return question.by === "fastify" ? framed(question) : bare(question);
});
