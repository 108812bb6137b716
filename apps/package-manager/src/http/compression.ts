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

/** The encoding of ours that the client likes best; undefined when it takes none of them, or likes the body better as it is. */
export function encodingFor(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined) return undefined;
  const liking = new Map(acceptEncoding.toLowerCase().split(",").map(likingOf));
  const others = liking.get("*") ?? 0;
  const plain = liking.get("identity") ?? 0;
  const br = liking.get("br") ?? others;
  const gzip = liking.get("gzip") ?? liking.get("x-gzip") ?? others;
  if (Math.max(br, gzip) === 0 || plain > Math.max(br, gzip)) return undefined;
  return br >= gzip ? "br" : "gzip";
}

/** One part of the header, such as `gzip;q=0.5`; what is liked how much cannot be read, is not. */
function likingOf(part: string): [encoding: string, liking: number] {
  const [encoding = "", ...parameters] = part.split(";").map((each) => each.trim());
  const quality = parameters.find((each) => each.startsWith("q="));
  const liking = quality === undefined ? 1 : Number(quality.slice(2));
  return [encoding, liking >= 0 && liking <= 1 ? liking : 0];
}

/** A body in an encoding. */
export function compressed(body: string | Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === "br" ? asBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) : asGzip(body);
}
