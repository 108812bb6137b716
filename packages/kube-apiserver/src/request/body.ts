import { err, ok, type Result } from "@oaas/foundation";
import { parse as parseYaml } from "yaml";
import { isJsonObject, type JsonObject, type JsonValue, type Status } from "@oaas/kube-core";
import { duplicateFields } from "./duplicate-fields.ts";
import { goSyntaxError, type GoSyntaxError } from "./go-json-error.ts";
import { mediaRange } from "./media-types.ts";
import { readProtobuf } from "./protobuf/protobuf-body.ts";
import { badRequest, unknownBodyType } from "./refusals.ts";

/** A body as it was sent, read. */
export interface ReadBody {
  readonly object: JsonObject;
  /** Paths that stand there twice; the last one counts, as for the real server. */
  readonly duplicates: readonly string[];
}

/** Reads the body of an object; `kind` is what it should be. */
export function readObject(body: string, contentType: string | undefined, kind: string): Result<ReadBody, Status> {
  const { type } = mediaRange(contentType ?? "application/json");
  if (type === "application/json" || type === "") return readJsonObject(body, kind);
  if (type === PROTOBUF) return readProtobufObject(body, kind);
  if (type !== "application/yaml") return err(unknownBodyType());
  const value = yamlValue(body);
  if (!value.ok) return err(badRequest(unrecognized(kind, `yaml: ${value.error}`, body)));
  return objectOr(value.value, kind, body);
}

/** What typed clients write; bodies of it have one character for each byte. */
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
  // Null is an object that says nothing.
  if (value === null) return ok({ object: {}, duplicates: [] });
  const wanted =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  const why = `couldn't get version/kind; json parse error: json: cannot unmarshal ${goTypeName(value)} into Go value of type ${wanted}`;
  return err(badRequest(unrecognized(kind, why, body)));
}

const SAMPLE_BYTES = 30;

/** What an object is must be said in texts. */
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

/** A piece of what was sent, as the real server shows it: text of objects, bytes of anything else. */
function sampleOf(body: string): string {
  if (body === "") return "<empty>";
  const bytes = Buffer.from(body);
  const piece = bytes.subarray(0, SAMPLE_BYTES);
  const shown = body.startsWith("{") ? piece.toString() : piece.toString("hex");
  return bytes.length > SAMPLE_BYTES ? `${shown} ...` : shown;
}

/** What Go calls the type of a JSON value. */
export function goTypeName(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** A JSON text as a value, or why it is none, in Go's words. */
export function jsonValue(text: string): Result<JsonValue, GoSyntaxError> {
  if (isTooDeep(text)) return err({ message: "invalid character '{' exceeded max depth" });
  try {
    return ok(JSON.parse(text) as JsonValue);
  } catch {
    return err(goSyntaxError(text));
  }
}

/** Go's reader goes down so far. */
const MOST_LEVELS = 10_000;

/** Whether objects and lists are nested deeper than anybody reads; texts that are too short for it are not looked at. */
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

/** A YAML text as a value of JSON, or why it is none. */
export function yamlValue(text: string): Result<JsonValue, string> {
  // Most of what is sent as YAML is JSON, which is YAML too, and read many times faster.
  const json = text.startsWith("{") ? jsonValue(text) : undefined;
  if (json?.ok === true) return json;
  try {
    const value: unknown = parseYaml(text, { uniqueKeys: false, maxAliasCount: 1000, schema: "yaml-1.1", merge: true });
    // Through JSON, so that nothing is left that JSON cannot say: dates, maps, undefined.
    return ok(JSON.parse(JSON.stringify(value ?? null)) as JsonValue);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    return err(why);
  }
}
