import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const asGzip = promisify(gzip);
const asBrotli = promisify(brotliCompress);

/** Below this a packet is a packet, compressed or not. */
const WORTH_BYTES = 4096;

export type Encoding = "br" | "gzip";

/** Whether compressing a body is worth the work. */
export function worthCompressing(body: string | Buffer): boolean {
  return body.length >= WORTH_BYTES;
}

/** The best encoding that the client takes; undefined when it takes none of ours. */
export function encodingFor(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined) return undefined;
  const accepted = new Set(
    acceptEncoding
      .split(",")
      .map((each) => each.trim().toLowerCase())
      .filter((each) => !/;\s*q=0(\.0*)?$/.test(each))
      .map((each) => each.split(";", 1)[0]),
  );
  if (accepted.has("br")) return "br";
  return accepted.has("gzip") || accepted.has("*") ? "gzip" : undefined;
}

/** A body in an encoding. */
export function compressed(body: string | Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === "br" ? asBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) : asGzip(body);
}
