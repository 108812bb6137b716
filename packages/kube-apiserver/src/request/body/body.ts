import { err, findJsonTextProblem, ok, type DocumentLimits, type Result } from "@oaas/foundation";
import { parseYamlValue } from "@oaas/foundation/yaml";
import { isJsonObject, type JsonObject, type JsonValue, type Status } from "@oaas/kube-core";
import { findDuplicateFields } from "./duplicate-fields.ts";
import { findSyntaxError, type GoSyntaxError } from "./go-json-error.ts";
import { parseMediaRange } from "./media-types.ts";
import { decodeProtobuf } from "./protobuf/protobuf-body.ts";
import { badRequest, unknownBodyType } from "../response/status-errors.ts";

/** A decoded body. */
export interface DecodedBody {
  readonly object: JsonObject;
  /** Duplicate paths; the last one wins, as in the real server. */
  readonly duplicates: readonly string[];
}

/** Decodes the body of an object; `kind` is the expected one. */
export function decodeObject(body: string, contentType: string | undefined, kind: string): Result<DecodedBody, Status> {
  const { type } = parseMediaRange(contentType ?? "application/json");
  if (type === "application/json" || type === "") return decodeJsonObject(body, kind);
  if (type === PROTOBUF) return decodeProtobufObject(body, kind);
  if (type !== "application/yaml") return err(unknownBodyType());
  const value = parseYamlBody(body);
  if (!value.ok) return err(badRequest(formatUnrecognized(kind, `yaml: ${value.error}`, body)));
  return requireObject(value.value, kind, body);
}

/** Protobuf, used by typed clients; bodies have one character per byte. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

function decodeProtobufObject(body: string, kind: string): Result<DecodedBody, Status> {
  const decoded = decodeProtobuf(body);
  if (decoded.ok) return ok({ object: decoded.value, duplicates: [] });
  return err(badRequest(formatUnrecognized(kind, decoded.error, Buffer.from(body, "latin1").toString("hex"))));
}

function decodeJsonObject(body: string, kind: string): Result<DecodedBody, Status> {
  const value = parseJson(body);
  if (!value.ok) {
    return err(
      badRequest(formatUnrecognized(kind, `couldn't get version/kind; json parse error: ${value.error.message}`, body)),
    );
  }
  const decoded = requireObject(value.value, kind, body);
  return decoded.ok ? ok({ ...decoded.value, duplicates: findDuplicateFields(body, decoded.value.object) }) : decoded;
}

function requireObject(value: JsonValue, kind: string, body: string): Result<DecodedBody, Status> {
  if (isJsonObject(value)) return requireTypeMeta(value, kind, body);
  // Null is an empty object.
  if (value === null) return ok({ object: {}, duplicates: [] });
  const expectedType =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  const reason = `couldn't get version/kind; json parse error: json: cannot unmarshal ${getGoTypeName(value)} into Go value of type ${expectedType}`;
  return err(badRequest(formatUnrecognized(kind, reason, body)));
}

const SAMPLE_BYTES = 30;

/** apiVersion and kind must be strings. */
function requireTypeMeta(object: JsonObject, kind: string, body: string): Result<DecodedBody, Status> {
  const invalidField = ["apiVersion", "kind"].find(
    (name) => !["string", "undefined"].includes(typeof (object[name] ?? "")),
  );
  if (invalidField === undefined) return ok({ object, duplicates: [] });
  const type = getGoTypeName(object[invalidField] ?? null);
  const reason = `json: cannot unmarshal ${type} into Go struct field .${invalidField} of type string`;
  return err(badRequest(formatUnrecognized(kind, `couldn't get version/kind; json parse error: ${reason}`, body)));
}

function formatUnrecognized(kind: string, reason: string, body: string): string {
  return `the object provided is unrecognized (must be of type ${kind}): ${reason} (${formatSample(body)})`;
}

/** An excerpt of the body, as the real server shows it: text for objects, bytes for anything else. */
function formatSample(body: string): string {
  if (body === "") return "<empty>";
  const bytes = Buffer.from(body);
  const piece = bytes.subarray(0, SAMPLE_BYTES);
  const sample = body.startsWith("{") ? piece.toString() : piece.toString("hex");
  return bytes.length > SAMPLE_BYTES ? `${sample} ...` : sample;
}

/** Go's name for the type of a JSON value. */
export function getGoTypeName(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** Parses JSON, or returns Go's error message. */
export function parseJson(text: string): Result<JsonValue, GoSyntaxError> {
  if (findJsonTextProblem(text, MAX_DEPTH)) return err({ message: "invalid character '{' exceeded max depth" });
  const problem = findJsonTextProblem(text, MAX_NODES);
  if (problem !== undefined) return err({ message: `the body ${problem.message}; ${problem.fix}` });
  try {
    return ok(JSON.parse(text) as JsonValue);
  } catch {
    return err(findSyntaxError(text));
  }
}

/** Go's nesting limit. */
const MAX_DEPTH: DocumentLimits = { nodes: Infinity, depth: 10_000 };
/** A limit of ours, which no real object within the size limit of a request reaches. */
const MAX_NODES: DocumentLimits = { nodes: 200_000, depth: Infinity };

/** Parses YAML into JSON values, or returns the error. */
export function parseYamlBody(text: string): Result<JsonValue, string> {
  // Most YAML bodies are JSON, which is parsed much faster.
  const json = text.startsWith("{") ? parseJson(text) : undefined;
  if (json?.ok === true) return json;
  const read = parseYamlValue(text, { schema: "yaml-1.1", allowDuplicates: true });
  if (!read.ok) return err(read.message);
  // Through JSON, so that only JSON values remain: no dates, maps, undefined.
  return ok(JSON.parse(JSON.stringify(read.value ?? null)) as JsonValue);
}
