import { isAscii } from "node:buffer";
import { parse } from "node:querystring";
import { invalidArgument, type Fault, type Violation } from "@oaas/foundation";
import { documentFromYaml, readBy, type HttpRefusal } from "@oaas/contracts/rest";
import type { z } from "zod";

/** A fault that only HTTP knows a status for. */
export class RefusedRequest extends Error {
  readonly fault: Fault;
  readonly refusal: HttpRefusal;

  constructor(fault: Fault, refusal: HttpRefusal) {
    super(fault.message);
    this.fault = fault;
    this.refusal = refusal;
  }
}

const JSON_TYPE = "application/json";
const JSON_TYPES = new Set([JSON_TYPE, "text/json"]);
const YAML_TYPES = new Set(["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"]);

/** Reads the body of a request into what the schema says; throws everything that is wrong with it. */
export function readBody(schema: z.ZodType, sent: Sent): unknown {
  assertPlain(sent.header("content-encoding"));
  const read = readBy(schema, documentIn(sent));
  if (!read.ok) throw invalidArgument("the body", read.error);
  return read.value;
}

/** A request as far as its body is concerned. */
export interface Sent {
  readonly body: Buffer;
  header(name: string): string | undefined;
}

function assertPlain(encoding: string | undefined): void {
  if (encoding === undefined || encoding.toLowerCase() === "identity") return;
  throw new RefusedRequest(
    invalidArgument("the request", [
      { path: "$", message: `has the content encoding "${encoding}"`, fix: "send the document as it is" },
    ]),
    "unsupported-media-type",
  );
}

function mediaTypeOf(contentType: string): string {
  if (contentType === JSON_TYPE) return JSON_TYPE;
  const [mediaType = ""] = contentType.split(";", 1);
  return mediaType.trim().toLowerCase();
}

/** The document that was sent, whatever it says. */
export function documentIn(sent: Sent): unknown {
  const type = mediaTypeOf(sent.header("content-type") ?? JSON_TYPE);
  const isYaml = YAML_TYPES.has(type);
  if (!isYaml && !JSON_TYPES.has(type) && !type.endsWith("+json"))
    throw new RefusedRequest(
      invalidArgument("the request", [
        { path: "$", message: `has the content type "${type}"`, fix: "send application/json or application/yaml" },
      ]),
      "unsupported-media-type",
    );
  const text = utf8(sent.body);
  if (isYaml) {
    const read = documentFromYaml(text);
    if (!read.ok) throw invalidArgument("the body", read.error);
    return read.value;
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (thrown) {
    throw invalidArgument("the body", [notJson(text, thrown)]);
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

function utf8(bytes: Buffer): string {
  // Most documents are, and then every byte is a character.
  if (isAscii(bytes)) return bytes.toString("latin1");
  try {
    return UTF8.decode(bytes);
  } catch {
    throw invalidArgument("the body", [{ path: "$", message: "is not UTF-8", fix: "send the text in UTF-8" }]);
  }
}

function notJson(text: string, thrown: unknown): Violation {
  if (text.trim() === "") return { path: "$", message: "is empty", fix: "send a JSON or YAML document" };
  const why = thrown instanceof Error ? thrown.message : "it cannot be read";
  return { path: "$", message: `is not valid JSON: ${why}`, fix: "correct the text there" };
}

/** Queries whose meaning is remembered; pages of a list are asked for with the same few. */
const MAX_KNOWN = 256;
/** Longer ones are not worth their place. */
const MAX_KNOWN_TEXT = 256;

/**
 * Reads the query of a request, as it stands behind the question mark, into what the schema says; throws everything that is wrong with it.
 * What a text means is worked out once, and nobody may change it.
 */
export function queryReader(schema: z.ZodType): (text: string) => unknown {
  const known = new Map<string, unknown>();
  return (text) => {
    const meaning = known.get(text);
    if (meaning !== undefined) return meaning;
    // Each name with its text, or with a list of texts when it is repeated.
    const read = readBy(schema, parse(text, undefined, undefined, { maxKeys: 0 }));
    if (!read.ok) throw invalidArgument("the query", read.error);
    if (text.length <= MAX_KNOWN_TEXT) {
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(text, read.value);
    }
    return read.value;
  };
}
