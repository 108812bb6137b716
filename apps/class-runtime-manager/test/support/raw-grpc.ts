import { connect, constants, type ClientHttp2Session, type SecureClientSessionOptions } from "node:http2";

/** The response on one stream; without a gRPC status the stream was closed. */
export interface RawResponse {
  readonly grpc: number | undefined;
  readonly message: string;
}

/** gRPC without a gRPC library, for arbitrary bytes and headers. */
export interface RawGrpc {
  send(path: string, body: Uint8Array, headers?: Readonly<Record<string, string>>): Promise<RawResponse>;
  close(): void;
}

/** Opens an HTTP/2 session to a port. */
export function rawGrpc(port: number, tls?: SecureClientSessionOptions): RawGrpc {
  const session: ClientHttp2Session = connect(`${tls ? "https" : "http"}://127.0.0.1:${port}`, tls);
  session.on("error", () => undefined);
  return {
    send: (path, body, headers = {}) =>
      new Promise((resolve) => {
        if (session.destroyed) return resolve({ grpc: undefined, message: "" });
        const stream = session.request({
          [constants.HTTP2_HEADER_METHOD]: "POST",
          [constants.HTTP2_HEADER_PATH]: path,
          "content-type": "application/grpc",
          te: "trailers",
          ...headers,
        });
        let response: RawResponse = { grpc: undefined, message: "" };
        const readFields = (fields: Readonly<Record<string, unknown>>): void => {
          const { "grpc-status": grpc, "grpc-message": message } = fields;
          response = {
            grpc: grpc === undefined ? response.grpc : Number(grpc),
            message: typeof message === "string" ? decodeURIComponent(message) : response.message,
          };
        };
        stream.on("response", readFields);
        stream.on("trailers", readFields);
        stream.on("error", () => undefined);
        stream.on("close", () => resolve(response));
        stream.resume();
        stream.end(body);
      }),
    close: () => session.destroy(),
  };
}

/** A message as gRPC frames it: a flag, a length, the bytes. `declaredLength` allows a wrong length. */
export function encodeFrame(message: Uint8Array, { flag = 0, says: declaredLength = message.length } = {}): Uint8Array {
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt8(flag, 0);
  frame.writeUInt32BE(declaredLength, 1);
  frame.set(message, 5);
  return frame;
}
