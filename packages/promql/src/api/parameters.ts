import { invalidQuery } from "../errors.ts";
import { parseDuration } from "../syntax/literals.ts";

/** The parameters of a request, from the query string and, with POST, from the form in the body. */
export type Parameters = URLSearchParams;

export function requiredParameter(parameters: Parameters, name: string): string {
  const value = parameters.get(name);
  if (value === null || value === "") throw invalidParameter(name, `parameter ${JSON.stringify(name)} is missing`);
  return value;
}

/** A time in seconds since 1970 or as RFC 3339, in milliseconds. */
export function timeParameter(parameters: Parameters, name: string, fallbackMs?: number): number {
  const text = parameters.get(name) ?? "";
  if (text === "" && fallbackMs !== undefined) return fallbackMs;
  const seconds = Number(text);
  const atMs = text.trim() === "" || Number.isNaN(seconds) ? parseDate(text) : Math.round(seconds * 1000);
  if (!Number.isSafeInteger(atMs))
    throw invalidParameter(name, `cannot parse ${JSON.stringify(text)} to a valid timestamp`);
  return atMs;
}

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

function parseDate(text: string): number {
  return DATE.test(text) ? Date.parse(text) : Number.NaN;
}

/** A duration such as `15s`, or seconds, in milliseconds. */
export function durationParameter(parameters: Parameters, name: string): number {
  const text = requiredParameter(parameters, name);
  const durationMs = parseDuration(text) ?? Math.round(Number(text) * 1000);
  if (!Number.isSafeInteger(durationMs))
    throw invalidParameter(name, `cannot parse ${JSON.stringify(text)} to a valid duration`);
  return durationMs;
}

export function invalidParameter(name: string, problem: string): Error {
  return invalidQuery(`invalid parameter ${JSON.stringify(name)}: ${problem}`);
}
