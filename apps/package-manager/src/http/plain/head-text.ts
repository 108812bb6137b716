import { STATUS_CODES } from "node:http";
import { COMMON_HEADERS, KEEP_ALIVE_MS } from "../exchange.ts";

/** What would end a header line, or is no byte. */
const UNFIT = /[^\t\x20-\x7e\x80-\xff]/;
const COMMON_LINES = linesOf(COMMON_HEADERS);
const KEPT = `connection: keep-alive\r\nkeep-alive: timeout=${KEEP_ALIVE_MS / 1000}\r\n\r\n`;
const CLOSED = "connection: close\r\n\r\n";

/** The head of an answer, one byte a character; throws when a header could not be sent. */
export function headText(status: number, head: readonly string[], date: string, last: boolean): string {
  return `${beginOf(status)}${linesOf(head)}date: ${date}\r\n${last ? CLOSED : KEPT}`;
}

const begins = new Map<number, string>();

/** All of a head that is the same for a status; there are few. */
function beginOf(status: number): string {
  let begin = begins.get(status);
  if (begin === undefined)
    begins.set(status, (begin = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${COMMON_LINES}`));
  return begin;
}

function linesOf(head: readonly string[]): string {
  let lines = "";
  for (let at = 0; at < head.length; at += 2) {
    const name = head[at] as string;
    const value = head[at + 1] as string;
    if (UNFIT.test(value)) throw new TypeError(`the header ${name} has characters that no header may have`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
