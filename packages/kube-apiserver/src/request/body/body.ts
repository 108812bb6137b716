import { err, ok, type Result } from "@oaas/foundation";
import { parseYamlValue } from "@oaas/foundation/yaml";
import { isJsonObject, type JsonObject, type JsonValue, type Status } from "@oaas/kube-core";
import { duplicateFields } from "./duplicate-fields.ts";
import { goSyntaxError, type GoSyntaxError } from "./go-json-error.ts";
import { mediaRange } from "./media-types.ts";
import { readProtobuf } from "./protobuf/protobuf-body.ts";
import { badRequest, unknownBodyType } from "../response/status-errors.ts";

/** A decoded body. */
export interface ReadBody {
  readonly object: JsonObject;
  /** Duplicate paths; the last one wins, as in the real server. */
  readonly duplicates: readonly string[];
}

/** Decodes the body of an object; `kind` is the expected one. */
export function readObject(body: string, contentType: string | undefined, kind: string): Result<ReadBody, Status> {
  const { type } = mediaRange(contentType ?? "application/json");
  if (type === "application/json" || type === "") return readJsonObject(body, kind);
  if (type === PROTOBUF) return readProtobufObject(body, kind);
  if (type !== "application/yaml") return err(unknownBodyType());
  const value = yamlValue(body);
  if (!value.ok) return err(badRequest(unrecognized(kind, `yaml: ${value.error}`, body)));
  return objectOr(value.value, kind, body);
}

/** Protobuf, used by typed clients; bodies have one character per byte. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

function readProtobufObject(body: string, kind: string): Result<ReadBody, Status> {
  const read = readProtobuf(body);
  if (read.ok) return ok({ object: read.value, duplicates: [] });
  return err(badRequest(unrecognized(kind, read.error, Buffer.from(body, "latin1").toString("hex"))));
}

function readJsonObject(body: string, kind: string): Result<ReadBody, Status> {
  const value = jsonValue(body);
  if (!value.ok) {
    return err(
      badRequest(unrecognized(kind, `couldn't get version/kind; json parse error: ${value.error.message}`, body)),
    );
  }
  const read = objectOr(value.value, kind, body);
  return read.ok ? ok({ ...read.value, duplicates: duplicateFields(body, read.value.object) }) : read;
}

function objectOr(value: JsonValue, kind: string, body: string): Result<ReadBody, Status> {
  if (isJsonObject(value)) return typedOr(value, kind, body);
  // Null is an empty object.
  if (value === null) return ok({ object: {}, duplicates: [] });
  const wanted =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  const why = `couldn't get version/kind; json parse error: json: cannot unmarshal ${goTypeName(value)} into Go value of type ${wanted}`;
  return err(badRequest(unrecognized(kind, why, body)));
}

const SAMPLE_BYTES = 30;

/** apiVersion and kind must be strings. */
function typedOr(object: JsonObject, kind: string, body: string): Result<ReadBody, Status> {
  const wrong = ["apiVersion", "kind"].find((name) => !["string", "undefined"].includes(typeof (object[name] ?? "")));
  if (wrong === undefined) return ok({ object, duplicates: [] });
  const type = goTypeName(object[wrong] ?? null);
  const why = `json: cannot unmarshal ${type} into Go struct field .${wrong} of type string`;
  return err(badRequest(unrecognized(kind, `couldn't get version/kind; json parse error: ${why}`, body)));
}

function unrecognized(kind: string, why: string, body: string): string {
  return `the object provided is unrecognized (must be of type ${kind}): ${why} (${sampleOf(body)})`;
}

/** An excerpt of the body, as the real server shows it: text for objects, bytes for anything else. */
function sampleOf(body: string): string {
  if (body === "") return "<empty>";
  const bytes = Buffer.from(body);
  const piece = bytes.subarray(0, SAMPLE_BYTES);
  const shown = body.startsWith("{") ? piece.toString() : piece.toString("hex");
  return bytes.length > SAMPLE_BYTES ? `${shown} ...` : shown;
}

/** Go's name for the type of a JSON value. */
export function goTypeName(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** Parses JSON, or returns Go's error message. */
export function jsonValue(text: string): Result<JsonValue, GoSyntaxError> {
  if (isTooDeep(text)) return err({ message: "invalid character '{' exceeded max depth" });
  try {
    return ok(JSON.parse(text) as JsonValue);
  } catch {
    return err(goSyntaxError(text));
  }
}

/** Go's nesting limit. */
const MOST_LEVELS = 10_000;

/** Whether objects and lists exceed the nesting limit; short texts are not checked. */
function isTooDeep(text: string): boolean {
  if (text.length < 2 * MOST_LEVELS) return false;
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    if (depth > MOST_LEVELS) return true;
  }
  return false;
}

/** Parses YAML into JSON values, or returns the error. */
export function yamlValue(text: string): Result<JsonValue, string> {
  // Most YAML bodies are JSON, which is parsed much faster.
  const json = text.startsWith("{") ? jsonValue(text) : undefined;
  if (json?.ok === true) return json;
  const read = parseYamlValue(text, { schema: "yaml-1.1", allowDuplicates: true });
  if (!read.ok) return err(read.message);
  // Through JSON, so that only JSON values remain: no dates, maps, undefined.
  return ok(JSON.parse(JSON.stringify(read.value ?? null)) as JsonValue);
}
