const HEADER = 5;

/** Encodes a gRPC frame: flag (uncompressed), length, bytes. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEADER + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, HEADER);
  return framed;
}

/** Splits a byte stream into messages. Each byte is copied at most once. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = HEADER;

  /** Returns the complete messages. */
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
