const HEADER = 5;

/** One message in gRPC's framing: a flag (not compressed), the length, the bytes. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEADER + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, HEADER);
  return framed;
}

/** Cuts a stream of bytes into messages, wherever the pieces were cut. Each byte is copied once at most. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = HEADER;

  /** The messages that are whole by now. */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return [];
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#length);
    const messages: Buffer[] = [];
    let at = 0;
    for (this.#needed = HEADER; bytes.length - at >= HEADER;) {
      const end = at + HEADER + bytes.readUInt32BE(at + 1);
      this.#needed = end - at;
      if (bytes.length < end) break;
      messages.push(bytes.subarray(at + HEADER, end));
      at = end;
      this.#needed = HEADER;
    }
    this.#chunks = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#length = bytes.length - at;
    return messages;
  }
}
