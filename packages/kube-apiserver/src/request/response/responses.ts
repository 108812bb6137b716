import { stringify as yamlText } from "yaml";
import type { JsonObject, Status } from "@oaas/kube-core";
import type { ApiResponse } from "../../api.ts";
import type { Representation } from "../body/media-types.ts";
import { statusObject } from "./status-errors.ts";

const JSON_TYPE = "application/json";
/** YAML as Go writes it: sorted, lists not indented, quoted where YAML 1.1 would not read a string. */
const YAML_STYLE = { sortMapEntries: true, lineWidth: 0, indentSeq: false, version: "1.1" } as const;
const NO_CACHE = { "cache-control": "no-cache, private" };

/** A JSON body in the requested form. */
export function jsonResponse(
  code: number,
  text: string,
  form: Pick<Representation, "syntax" | "isPretty">,
  warnings: readonly string[] = [],
): ApiResponse {
  const isYaml = form.syntax === "yaml";
  const body = isYaml ? yamlText(JSON.parse(text), YAML_STYLE) : formatJson(text, form);
  return {
    status: code,
    headers: {
      ...NO_CACHE,
      "content-type": isYaml ? "application/yaml" : JSON_TYPE,
      ...(warnings.length === 0 ? {} : { warning: limitWarnings(warnings).map(formatWarning).join(", ") }),
    },
    body,
  };
}

function formatJson(text: string, { isPretty }: Pick<Representation, "isPretty">): string {
  return isPretty ? JSON.stringify(JSON.parse(text), undefined, 2) : `${text}\n`;
}

/** An object response. */
export function objectResponse(
  code: number,
  object: JsonObject,
  form: Pick<Representation, "syntax" | "isPretty">,
  warnings: readonly string[] = [],
): ApiResponse {
  return jsonResponse(code, JSON.stringify(object), form, warnings);
}

const PLAIN: Pick<Representation, "syntax" | "isPretty"> = { syntax: "json", isPretty: false };

/** A status response: an error, or a success without an object. */
export function statusResponse(
  status: Status,
  form: Pick<Representation, "syntax" | "isPretty"> = PLAIN,
  warnings: readonly string[] = [],
): ApiResponse {
  const response = objectResponse(status.code ?? 200, statusObject(status), form, warnings);
  const retryAfter = status.details?.retryAfterSeconds;
  if (retryAfter === undefined) return response;
  return { ...response, headers: { ...response.headers, "retry-after": String(retryAfter) } };
}

/** The response for unknown paths. */
export function pageNotFound(): ApiResponse {
  return textResponse(404, "404 page not found\n");
}

export function textResponse(code: number, text: string): ApiResponse {
  return {
    status: code,
    headers: { ...NO_CACHE, "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
    body: text,
  };
}

/** A stream of JSON lines. */
export function streamResponse(lines: AsyncIterable<string>): ApiResponse {
  return { status: 200, headers: { ...NO_CACHE, "content-type": JSON_TYPE }, body: lines };
}

/** Prepends a warning to the response. */
export function prependWarning(response: ApiResponse, text: string): ApiResponse {
  const { warning } = response.headers;
  const all = warning === undefined ? formatWarning(text) : `${formatWarning(text)}, ${warning}`;
  return { ...response, headers: { ...response.headers, warning: all } };
}

/** Characters of all warnings of a response, as in Kubernetes. */
const MAX_WARNING_CHARACTERS = 4096;
/** Characters of one warning of a response that exceeds that limit. */
const SHORT_WARNING_CHARACTERS = 256;

/** Shortens the warnings of a response that has too many, and drops the last ones. */
export function limitWarnings(warnings: readonly string[]): readonly string[] {
  const unique = [...new Set(warnings)];
  if (unique.reduce((sum, { length }) => sum + length, 0) <= MAX_WARNING_CHARACTERS) return unique;
  const kept: string[] = [];
  let length = 0;
  for (const warning of unique) {
    if (length >= MAX_WARNING_CHARACTERS) break;
    const short = warning.slice(0, SHORT_WARNING_CHARACTERS).toWellFormed();
    kept.push(short);
    length += short.length;
  }
  return kept;
}

/** A warning header (RFC 7234). */
function formatWarning(text: string): string {
  return `299 - "${text.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;
}
