import { readFileSync } from "node:fs";
import { createServer, type ClientRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";

/**
 * The handling of a request: forwarded; answered by the proxy; held forever; forwarded with a response truncated inside
 * a line; or forwarded without returning the response, with a callback when it arrived.
 */
export type HttpFate =
  | { readonly do: "pass" }
  | { readonly do: "answer"; readonly status: number; readonly body: string; readonly headers?: Record<string, string> }
  | { readonly do: "hang" }
  | { readonly do: "truncate"; readonly bytes: number; readonly how: "end" | "break" }
  | { readonly do: "lose-answer"; readonly onAnswer: () => void };

/** An HTTP proxy that can inject faults in the middle of a response. */
export interface HttpProxy {
  readonly url: string;
  /** The maximum of concurrent requests since the last call. */
  takeMostAtOnce(): number;
  /** Sets the handling of each request and aborts running ones. */
  set(fate: (request: IncomingMessage) => HttpFate): void;
  close(): Promise<void>;
}

/** Starts a proxy that forwards everything. */
export async function startHttpProxy(upstream: { readonly url: string; readonly caFile: string }): Promise<HttpProxy> {
  const target = new URL(upstream.url);
  const agent = new Agent({ ca: readFileSync(upstream.caFile, "utf8"), keepAlive: true });
  /** Aborts of running requests. */
  const open = new Set<ServerResponse>();
  let fateOf: (request: IncomingMessage) => HttpFate = () => ({ do: "pass" });
  let most = 0;

  const send = (request: IncomingMessage, response: ServerResponse): ClientRequest => {
    const sent = httpsRequest({
      agent,
      host: target.hostname,
      port: target.port,
      path: request.url,
      method: request.method,
      headers: { ...request.headers, host: target.host },
    });
    sent.on("error", () => response.destroy());
    request.pipe(sent);
    return sent;
  };
  const loseAnswer = (request: IncomingMessage, response: ServerResponse, onAnswer: () => void): void => {
    send(request, response).on("response", (answer) => {
      answer.on("end", onAnswer);
      answer.resume();
    });
  };
  const pass = (
    request: IncomingMessage,
    response: ServerResponse,
    cut?: { bytes: number; how: "end" | "break" },
  ): void => {
    const sent = send(request, response);
    response.on("close", () => sent.destroy());
    sent.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      let left = cut?.bytes ?? Number.POSITIVE_INFINITY;
      answer.on("data", (bytes: Buffer) => {
        response.write(bytes.subarray(0, left));
        left -= bytes.length;
        if (left > 0) return;
        if (cut?.how === "end") response.end();
        else response.destroy();
        sent.destroy();
      });
      answer.on("error", () => response.destroy());
      answer.on("end", () => {
        open.delete(response);
        response.end();
      });
    });
  };
  const server = createServer((request, response) => {
    open.add(response);
    most = Math.max(most, open.size);
    response.on("close", () => open.delete(response));
    response.on("error", () => undefined);
    const fate = fateOf(request);
    if (fate.do === "pass") pass(request, response);
    else if (fate.do === "truncate") pass(request, response, fate);
    else if (fate.do === "lose-answer") loseAnswer(request, response, fate.onAnswer);
    else if (fate.do === "answer") response.writeHead(fate.status, fate.headers).end(fate.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endAll = (): void => {
    for (const response of open) response.destroy();
    open.clear();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeMostAtOnce: () => {
      const was = most;
      most = open.size;
      return was;
    },
    set: (next) => {
      fateOf = next;
      endAll();
    },
    close: async () => {
      endAll();
      agent.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
