import { parseChoice, parseDuration, parsePositiveInteger } from "./argument-parsers.ts";

export const textFlag = (brief: string, placeholder: string) =>
  ({ kind: "parsed", parse: String, optional: true, brief, placeholder }) as const;

export const numberFlag = (brief: string, placeholder: string, parse = parsePositiveInteger) =>
  ({ kind: "parsed", parse, optional: true, brief, placeholder }) as const;

export const choiceFlag = (brief: string, placeholder: string, ...values: readonly string[]) =>
  ({ kind: "parsed", parse: parseChoice(...values), optional: true, brief, placeholder }) as const;

export const repeatedFlag = (brief: string, placeholder: string) =>
  ({ kind: "parsed", parse: String, optional: true, variadic: true, brief, placeholder }) as const;

export const booleanFlag = (brief: string) => ({ kind: "boolean", brief, default: false, withNegated: false }) as const;

export const timeoutFlag = {
  kind: "parsed",
  parse: parseDuration,
  default: "5m",
  brief: "how long to wait: 90s, 5m, 2h",
  placeholder: "time",
} as const;

export const revisionFlag = {
  kind: "parsed",
  parse: parsePositiveInteger,
  brief: "the revision to restore",
  placeholder: "revision",
} as const;

export const yesFlag = booleanFlag("do not ask for confirmation");

export const reasonFlag = textFlag("reason to record in the history", "text");

export const filesFlag = {
  kind: "parsed",
  parse: String,
  variadic: true,
  brief: "a file, a folder, or - for standard input; may be repeated",
  placeholder: "path",
} as const;
export const clusterFlag = textFlag("in this cluster only", "name");
