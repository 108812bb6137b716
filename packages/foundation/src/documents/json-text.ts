import { err, ok, type Result } from "../result.ts";
import { ROOT_PATH, type Violation } from "../faults/violation.ts";
import { REQUEST_LIMITS, tooDeep, tooManyNodes, type DocumentLimits } from "./document-limits.ts";

/**
 * Parses JSON from outside. The text is measured before it is parsed: parsing 8 MB of empty lists takes a second and
 * hundreds of megabytes.
 */
export function parseJson(text: string, limits: DocumentLimits = REQUEST_LIMITS): Result<unknown, Violation> {
  const problem = findJsonTextProblem(text, limits);
  if (problem !== undefined) return err(problem);
  try {
    return ok(JSON.parse(text) as unknown);
  } catch (thrown) {
    return err(syntaxViolation(text, thrown as SyntaxError));
  }
}

function syntaxViolation(text: string, { message }: SyntaxError): Violation {
  if (text.trim() === "") return { path: ROOT_PATH, message: "is empty", fix: "send a JSON or YAML document" };
  return { path: ROOT_PATH, message: `is not valid JSON: ${message}`, fix: "correct the text there" };
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Measures the values and the depth of a JSON text in one pass, which stops at the first violation. */
export function findJsonTextProblem(text: string, limits: DocumentLimits): Violation | undefined {
  // Every comma and every bracket is followed by one more value, except the bracket of an empty list or object.
  let nodes = 1;
  let depth = 0;
  let last = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= SPACE) continue;
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      nodes += 1;
      if (depth > limits.depth) return tooDeep(limits.depth);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth -= 1;
      if (last === OPEN_LIST || last === OPEN_OBJECT) nodes -= 1;
    } else if (code === COMMA) nodes += 1;
    if (nodes > limits.nodes + 1) return tooManyNodes(limits.nodes);
    last = code;
  }
  return nodes > limits.nodes ? tooManyNodes(limits.nodes) : undefined;
}

/** The position of the closing quote, or the end of a text that has none. */
function endOfString(text: string, opening: number): number {
  let quote = text.indexOf('"', opening + 1);
  while (quote !== -1 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote === -1 ? text.length : quote;
}

/** Whether an odd number of backslashes precedes the position. */
function isEscaped(text: string, position: number): boolean {
  let before = position - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (position - before) % 2 === 0;
}
