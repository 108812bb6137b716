import { connect, constants, type ClientHttp2Session } from "node:http2";

/** What came back on one stream; without a gRPC status the stream was cut. */
export interface RawAnswer {
  readonly grpc: number | undefined;
  readonly message: string;
}

/** gRPC without a gRPC library: whatever bytes and headers one likes. */
export interface RawGrpc {
  send(path: string, body: Uint8Array, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>;
  close(): void;
}

/** Speaks HTTP/2 to a port. */
export function rawGrpc(port: number): RawGrpc {
  const session: ClientHttp2Session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  return {
    send: (path, body, headers = {}) =>
      new Promise((resolve) => {
        const stream = session.request({
          [constants.HTTP2_HEADER_METHOD]: "POST",
          [constants.HTTP2_HEADER_PATH]: path,
          "content-type": "application/grpc",
          te: "trailers",
          ...headers,
        });
        let answer: RawAnswer = { grpc: undefined, message: "" };
        const take = (fields: Readonly<Record<string, unknown>>): void => {
          const { "grpc-status": grpc, "grpc-message": message } = fields;
          answer = {
            grpc: grpc === undefined ? answer.grpc : Number(grpc),
            message: typeof message === "string" ? decodeURIComponent(message) : answer.message,
          };
        };
        stream.on("response", take);
        stream.on("trailers", take);
        stream.on("error", () => undefined);
        stream.on("close", () => resolve(answer));
        stream.resume();
        stream.end(body);
      }),
    close: () => session.destroy(),
  };
}

/** A message as gRPC frames it: a flag, a length, the bytes. `says` is the length to lie about. */
export function framed(message: Uint8Array, { flag = 0, says = message.length } = {}): Uint8Array {
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt8(flag, 0);
  frame.writeUInt32BE(says, 1);
  frame.set(message, 5);
  return frame;
}
