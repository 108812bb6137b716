import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/*
 * Not @fastify/compress: it serves brotli to a client that excludes it before a wildcard (`br;q=0, *`), sends `vary` only with compressed
 * responses, and compresses on the event loop.
 */

const gzipBody = promisify(gzip);
const brotliBody = promisify(brotliCompress);

/** Smaller bodies fit into a few packets anyway. */
const MIN_LENGTH = 4096;

export type Encoding = "br" | "gzip";

export function isCompressible(body: string | Buffer): boolean {
  return body.length >= MIN_LENGTH;
}

/** The supported encoding that the client prefers; undefined when it accepts none, or prefers the identity. */
export function encodingFor(acceptEncoding: string | undefined): Encoding | undefined {
  return encodingsFor(acceptEncoding)[0];
}

/** The supported encodings that the client prefers to the identity, the best one first. */
export function encodingsFor(acceptEncoding: string | undefined): readonly Encoding[] {
  if (acceptEncoding === undefined) return [];
  const quality = new Map(acceptEncoding.toLowerCase().split(",").map(parsePreference));
  const wildcard = quality.get("*") ?? 0;
  const br = quality.get("br") ?? wildcard;
  const gz = quality.get("gzip") ?? quality.get("x-gzip") ?? wildcard;
  const identity = quality.get("identity") ?? 0;
  const candidates = [
    { encoding: "br", quality: br },
    { encoding: "gzip", quality: gz },
  ] as const;
  return candidates
    .filter((one) => one.quality > 0 && one.quality >= identity)
    .toSorted((a, b) => b.quality - a.quality)
    .map(({ encoding }) => encoding);
}

/** One element of the header, such as `gzip;q=0.5`. An invalid quality counts as 0. */
function parsePreference(element: string): [encoding: string, quality: number] {
  const [encoding = "", ...parameters] = element.split(";").map((each) => each.trim());
  const weight = parameters.find((each) => each.startsWith("q="));
  const quality = weight === undefined ? 1 : Number(weight.slice(2));
  return [encoding, quality >= 0 && quality <= 1 ? quality : 0];
}

export function compress(body: string | Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === "br" ? brotliBody(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) : gzipBody(body);
}
