import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";

/** A gRPC server that responds to every call with one status code and no details, like a foreign peer. */
export interface RawGrpc {
  readonly url: string;
  readonly calls: string[];
  code: number;
  close(): Promise<void>;
}

export async function startRawGrpc(code: number): Promise<RawGrpc> {
  const calls: string[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const server: Http2Server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => session.destroy());
  });
  const raw = { code };
  server.on("stream", (stream, headers) => {
    calls.push(String(headers[":path"]));
    stream.on("error", () => undefined);
    stream.respond(
      {
        ":status": 200,
        "content-type": "application/grpc",
        "grpc-status": String(raw.code),
        "grpc-message": "so it is",
      },
      { endStream: true },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    get code() {
      return raw.code;
    },
    set code(next) {
      raw.code = next;
    },
    close: () => {
      for (const session of sessions) session.destroy();
      return new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
