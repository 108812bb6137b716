import { Agent as PlainAgent, request as plainRequest, type IncomingMessage } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";

/** A raw HTTP request. */
export interface WireRequest {
  readonly method: string;
  /** From the server's root, query included. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface WireAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/** A response read line by line. */
export interface WireStream {
  readonly code: number;
  readonly headers: WireAnswer["headers"];
  /** The next whole line; undefined when the server has ended it. */
  next(): Promise<string | undefined>;
  close(): void;
}

export interface Wire {
  send(request: WireRequest): Promise<WireAnswer>;
  open(request: WireRequest): Promise<WireStream>;
  close(): void;
}

const TIMEOUT_MS = 30_000;

/** A raw HTTP connection to a server, without our client, so that cases control the bytes. */
export function socketWire(url: string, ca: string | undefined): Wire {
  const isTls = url.startsWith("https:");
  const agent = isTls
    ? new TlsAgent({ keepAlive: true, maxSockets: 64, ...(ca === undefined ? {} : { ca }) })
    : new PlainAgent({ keepAlive: true, maxSockets: 64 });
  const { hostname, port } = new URL(url);
  const start = ({ method, path, headers, body }: WireRequest, keepsAgent: boolean): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options = {
        host: hostname,
        port,
        method,
        path,
        headers,
        agent: keepsAgent ? agent : false,
        ...(ca === undefined ? {} : { ca }),
      };
      const timeout = keepsAgent ? { timeout: TIMEOUT_MS } : {};
      const call = isTls
        ? tlsRequest({ ...options, ...timeout }, resolve)
        : plainRequest({ ...options, ...timeout }, resolve);
      call.on("timeout", () => call.destroy(new Error(`${method} ${path} got no response within ${TIMEOUT_MS} ms`)));
      call.on("error", reject);
      call.end(body);
    });
  return {
    send: async (request) => {
      const response = await start(request, true);
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      return {
        code: response.statusCode ?? 0,
        headers: response.headers,
        text: Buffer.concat(chunks).toString(),
      };
    },
    open: async (request) => linesOf(await start(request, false)),
    close: () => agent.destroy(),
  };
}

function linesOf(response: IncomingMessage): WireStream {
  const lines: string[] = [];
  let rest = "";
  let isEnded = false;
  let wake: () => void = () => undefined;
  const end = (): void => {
    if (rest !== "") lines.push(rest);
    rest = "";
    isEnded = true;
    wake();
  };
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    wake();
  });
  response.on("end", end);
  response.on("error", end);
  response.on("close", end);
  return {
    code: response.statusCode ?? 0,
    headers: response.headers,
    next: async () => {
      // oxlint-disable-next-line eslint/no-unmodified-loop-condition -- the listeners above change it
      while (lines.length === 0 && !isEnded) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return lines.shift();
    },
    close: () => response.destroy(),
  };
}
