import type { ParsedUrlQuery } from "node:querystring";
import { documentFromYaml, readBy, HttpError, unknownFields, unknownParameters } from "@oaas/contracts/rest";
import { invalidArgument, joinViolations, parseJson, type Violation } from "@oaas/foundation";
import { z } from "zod";
import type { FieldChecks } from "./field-checks.ts";

/** The headers that say how a body is encoded. */
export interface BodyHeaders {
  header(name: string): string | undefined;
}

const JSON_TYPE = /^(application\/json|text\/json|.*\+json)$/;
const YAML_TYPE = /^(application|text)\/(x-)?yaml$/;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a body by its schema; throws all violations at once. */
export function readBody(schema: z.ZodType, body: Buffer, headers: BodyHeaders, checks?: FieldChecks): unknown {
  const encoding = headers.header("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity")
    throw unsupported({ message: `has the content encoding "${encoding}"`, fix: "send it without an encoding" });
  const document = parseDocument(body, headers);
  return readKnown(
    "the body",
    schema,
    document,
    checks?.rejected(() => unknownFields(schema, document)),
  );
}

/** Reads a query by the schema of its route, if it has one; throws all violations at once. */
export function readQuery(schema: z.ZodType | undefined, query: ParsedUrlQuery, checks?: FieldChecks): unknown {
  const unknown = checks?.rejected(() => unknownParameters(schema, query));
  return readKnown("the query", schema ?? z.undefined(), schema && query, unknown);
}

function readKnown(subject: string, schema: z.ZodType, value: unknown, unknown: readonly Violation[] = []): unknown {
  const read = readBy(schema, value);
  if (read.ok && unknown.length === 0) return read.value;
  throw invalidArgument(subject, joinViolations(unknown, read.ok ? [] : read.error));
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
