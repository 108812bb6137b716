import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Fault } from "@oaas/foundation";
import type { Api, ApiResponse } from "../api.ts";
import { statusAnswer } from "../request/answers.ts";
import { tooLarge } from "../request/refusals.ts";

/** As the real server has it: what is larger is refused unread. */
const BODY_LIMIT = 3 * 1024 * 1024;

export interface HttpOptions {
  /** 0 for any that is free. */
  readonly port?: number;
  readonly host?: string;
}

/** A server that listens. */
export interface HttpListener {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  /** Takes no more connections, ends what is under way. Repeatable. */
  close(): Promise<void>;
}

/** Lets clients reach an API by HTTP/1.1, on loopback unless told otherwise. */
export async function listenHttp(api: Api, { port = 0, host = "127.0.0.1" }: HttpOptions = {}): Promise<HttpListener> {
  const sockets = new Set<Socket>();
  const server = createHttpServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    void serve(api, request, response);
  });
  server.on("connection", (socket: Socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      resolve();
    });
  }).catch((error: unknown) => {
    const why = `cannot listen on ${host}:${port}; choose another port`;
    throw new Fault({ kind: "unavailable", dependency: `${host}:${port}` }, why, { cause: error });
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function serve(api: Api, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const leaving = new AbortController();
  response.on("close", () => leaving.abort());
  try {
    const body = await bodyOf(request);
    const answer =
      body === undefined
        ? statusAnswer(tooLarge(BODY_LIMIT))
        : await api.handle({
            method: request.method ?? "GET",
            target: request.url ?? "/",
            headers: headersOf(request),
            body,
            signal: leaving.signal,
          });
    await send(answer, request, response);
  } catch {
    // The client has gone, or is to see its connection break: there is nobody to tell.
    response.destroy();
  }
}

/** The body as text; undefined when it is too large. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT) {
      request.resume();
      return undefined;
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Buffer).toString() : Buffer.concat(chunks).toString();
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
}

async function send(
  { status, headers, body }: ApiResponse,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (typeof body === "string") {
    const bytes = Buffer.from(body);
    response.writeHead(status, { ...headers, "content-length": bytes.length });
    response.end(request.method === "HEAD" ? undefined : bytes);
    return;
  }
  response.writeHead(status, headers);
  response.flushHeaders();
  for await (const chunk of body) {
    if (response.destroyed) break;
    // A slow client is waited for; its place in history is its own.
    if (!response.write(chunk)) await drained(response);
  }
  response.end();
}

async function drained(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
