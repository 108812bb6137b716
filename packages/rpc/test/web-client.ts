import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";

/** A complete gRPC-Web response. This client implements the protocol independently of the server code. */
export interface WebAnswer {
  readonly httpStatus: number;
  readonly headers: Headers;
  readonly messages: readonly Buffer[];
  readonly trailers: ReadonlyMap<string, string>;
}

/** Encodes a message frame. */
export function framed<D extends DescMessage>(schema: D, message: MessageInitShape<D>): Buffer {
  const bytes = toBinary(schema, create(schema, message));
  const header = Buffer.from([0, 0, 0, 0, 0]);
  header.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([header, bytes]);
}

/** Decodes the messages and trailers of a body. */
export function unframed(body: Buffer): Pick<WebAnswer, "messages" | "trailers"> {
  const messages: Buffer[] = [];
  const trailers = new Map<string, string>();
  for (let at = 0; at < body.length;) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    const payload = body.subarray(at + 5, end);
    if (body[at] === 0) messages.push(payload);
    else
      for (const line of payload.toString("latin1").split("\r\n").filter(Boolean)) {
        const colon = line.indexOf(":");
        trailers.set(line.slice(0, colon), line.slice(colon + 1).trim());
      }
    at = end;
  }
  return { messages, trailers };
}

/** Decodes several padded base64 texts. */
export function fromText(text: string): Buffer {
  return Buffer.concat((text.match(/[^=]+={0,2}/g) ?? []).map((piece) => Buffer.from(piece, "base64")));
}

/** Makes a call with fetch over HTTP/1.1. */
export async function callByFetch<M extends DescMethod>(
  base: string,
  method: M,
  request: MessageInitShape<M["input"]> | Buffer,
  options: { readonly text?: boolean; readonly headers?: Record<string, string>; readonly signal?: AbortSignal } = {},
): Promise<WebAnswer> {
  const body = Buffer.isBuffer(request) ? request : framed(method.input, request as MessageInitShape<DescMessage>);
  const response = await fetch(`${base}/${method.parent.typeName}/${method.name}`, {
    method: "POST",
    headers: {
      "content-type": options.text ? "application/grpc-web-text" : "application/grpc-web+proto",
      "x-grpc-web": "1",
      ...options.headers,
    },
    body: options.text ? body.toString("base64") : new Uint8Array(body),
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const raw = Buffer.from(await response.arrayBuffer());
  const frames = options.text ? fromText(raw.toString("latin1")) : raw;
  const isWeb = response.headers.get("content-type")?.startsWith("application/grpc-web");
  return {
    httpStatus: response.status,
    headers: response.headers,
    ...(isWeb ? unframed(frames) : { messages: [], trailers: new Map() }),
  };
}

/** Returns the only message of a response. */
export function onlyReply<M extends DescMethod>(method: M, response: WebAnswer): MessageShape<M["output"]> {
  if (response.messages.length !== 1) throw new Error(`${response.messages.length} messages`);
  return fromBinary(method.output, response.messages[0] as Buffer) as MessageShape<M["output"]>;
}
