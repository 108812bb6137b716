import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const asGzip = promisify(gzip);
const asBrotli = promisify(brotliCompress);

/** Below this a packet is a packet, compressed or not. */
const WORTH_BYTES = 4096;

export interface Body {
  readonly bytes: string | Buffer;
  readonly encoding?: "br" | "gzip";
}

/** A text in the best form that the client takes and that is worth the work. */
export async function compressed(text: string, acceptEncoding: string | undefined): Promise<Body> {
  if (acceptEncoding === undefined || text.length < WORTH_BYTES) return { bytes: text };
  const accepted = new Set(
    acceptEncoding
      .split(",")
      .map((each) => each.trim().toLowerCase())
      .filter((each) => !/;\s*q=0(\.0*)?$/.test(each))
      .map((each) => each.split(";", 1)[0]),
  );
  if (accepted.has("br"))
    return { encoding: "br", bytes: await asBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) };
  if (accepted.has("gzip") || accepted.has("*")) return { encoding: "gzip", bytes: await asGzip(text) };
  return { bytes: text };
}
