const HEADER = 5;

/** One message in gRPC's framing: a flag (not compressed), the length, the bytes. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEADER + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, HEADER);
  return framed;
}

/** Cuts a stream of bytes into messages, wherever the pieces were cut. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The messages that are whole by now. */
  push(chunk: Buffer): Buffer[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const messages: Buffer[] = [];
    let at = 0;
    while (bytes.length - at >= HEADER) {
      const end = at + HEADER + bytes.readUInt32BE(at + 1);
      if (bytes.length < end) break;
      messages.push(bytes.subarray(at + HEADER, end));
      at = end;
    }
    this.#rest = bytes.subarray(at);
    return messages;
  }
}
