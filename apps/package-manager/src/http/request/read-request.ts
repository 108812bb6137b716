import type { ParsedUrlQuery } from "node:querystring";
import { documentFromYaml, readBy, HttpError } from "@oaas/contracts/rest";
import { invalidArgument, parseJson, type Violation } from "@oaas/foundation";
import type { z } from "zod";

/** The headers that say how a body is encoded. */
export interface BodyHeaders {
  header(name: string): string | undefined;
}

const JSON_TYPE = /^(application\/json|text\/json|.*\+json)$/;
const YAML_TYPE = /^(application|text)\/(x-)?yaml$/;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a body by its schema; throws all violations at once. */
export function readBody(schema: z.ZodType, body: Buffer, headers: BodyHeaders): unknown {
  const encoding = headers.header("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity")
    throw unsupported({ message: `has the content encoding "${encoding}"`, fix: "send it without an encoding" });
  const read = readBy(schema, parseDocument(body, headers));
  if (!read.ok) throw invalidArgument("the body", read.error);
  return read.value;
}

/** Reads a query by its schema; throws all violations at once. */
export function readQuery(schema: z.ZodType, query: ParsedUrlQuery): unknown {
  const read = readBy(schema, query);
  if (!read.ok) throw invalidArgument("the query", read.error);
  return read.value;
}

/** Parses a body by its content type, before any schema. */
export function parseDocument(body: Buffer, headers: BodyHeaders): unknown {
  const [type = ""] = (headers.header("content-type") ?? "application/json").toLowerCase().split(";", 1);
  const mediaType = type.trim();
  const isYaml = YAML_TYPE.test(mediaType);
  if (!isYaml && !JSON_TYPE.test(mediaType)) throw unsupportedMediaType(mediaType);
  const text = decode(body);
  if (isYaml) {
    const read = documentFromYaml(text);
    if (!read.ok) throw invalidArgument("the body", read.error);
    return read.value;
  }
  const read = parseJson(text);
  if (!read.ok) throw invalidArgument("the body", [read.error]);
  return read.value;
}

export function unsupportedMediaType(type: string): HttpError {
  return unsupported({ message: `has the content type "${type}"`, fix: "send application/json or application/yaml" });
}

export function missingContentType(): HttpError {
  return unsupported({ message: "has no content-type header", fix: "send application/json or application/yaml" });
}

function unsupported(violation: Omit<Violation, "path">): HttpError {
  const fault = invalidArgument("the request", [{ path: "$", ...violation }]);
  return new HttpError(fault, "unsupported-media-type");
}

function decode(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw invalidArgument("the body", [{ path: "$", message: "is not UTF-8", fix: "send the text in UTF-8" }]);
  }
}
