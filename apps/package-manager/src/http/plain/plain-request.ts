import { NO_BODY } from "../exchange.ts";

/** A request in the plain form that nearly every client sends. */
export interface PlainRequest {
  readonly method: string;
  readonly url: string;
  /** Name, value, name, value. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** How many of the bytes are its. */
  readonly bytes: number;
}

const END_OF_HEAD = Buffer.from("\r\n\r\n");
/** Node takes twice as much; longer ones are read there. */
const MAX_HEAD = 8_192;

/** No continued lines, no spaces before a colon, no bare line ends: nothing that two readers might understand differently. */
const HEAD =
  /^(GET|POST|PUT|DELETE) (\/[!-~]*) HTTP\/1\.1\r\n(?:[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)+\r\n$/;

/** Headers that change how a connection is read. Whoever sends one is served by Node. */
const CHANGING = new Set([
  "transfer-encoding",
  "upgrade",
  "expect",
  "te",
  "trailer",
  "proxy-connection",
  "http2-settings",
]);

/**
 * Reads the request that these bytes begin with, when it is whole and plain: a strict part of HTTP/1.1, every request of which Node's
 * parser would read alike. Of everything else it says nothing, and Node's parser has to.
 */
export function readPlainRequest(bytes: Buffer, maxBody: number): PlainRequest | undefined {
  const end = bytes.indexOf(END_OF_HEAD);
  if (end === -1 || end > MAX_HEAD) return undefined;
  const head = bytes.toString("latin1", 0, end + END_OF_HEAD.length);
  const line = HEAD.exec(head);
  if (line === null) return undefined;
  const rawHeaders = headersIn(head);
  const length = bodyLength(rawHeaders);
  if (length === undefined || length > maxBody || head.length + length > bytes.length) return undefined;
  const [, method, url] = line as unknown as readonly [string, string, string];
  if (length > 0 && method === "GET") return undefined;
  const whole = head.length + length;
  return { method, url, rawHeaders, body: length === 0 ? NO_BODY : bytes.subarray(head.length, whole), bytes: whole };
}

/** All header lines of a head that is known to be well formed. */
function headersIn(head: string): string[] {
  const headers: string[] = [];
  let at = head.indexOf("\r\n") + 2;
  const end = head.length - 2;
  while (at < end) {
    const colon = head.indexOf(":", at);
    const lineEnd = head.indexOf("\r\n", colon);
    let from = colon + 1;
    let to = lineEnd;
    while (from < to && isBlank(head.charCodeAt(from))) from += 1;
    while (to > from && isBlank(head.charCodeAt(to - 1))) to -= 1;
    headers.push(head.slice(at, colon), head.slice(from, to));
    at = lineEnd + 2;
  }
  return headers;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** How long the body is; undefined when the headers make the request anything but plain. */
function bodyLength(headers: readonly string[]): number | undefined {
  let length: number | undefined;
  let hosts = 0;
  for (let at = 0; at < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase();
    const value = headers[at + 1] as string;
    if (name === "host") hosts += 1;
    else if (name === "content-length") {
      if (length !== undefined || !/^\d{1,9}$/.test(value)) return undefined;
      length = Number(value);
    } else if (name === "connection") {
      if (value.toLowerCase() !== "keep-alive") return undefined;
    } else if (CHANGING.has(name)) return undefined;
  }
  return hosts === 1 ? (length ?? 0) : undefined;
}
