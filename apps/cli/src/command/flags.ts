import { parseChoice, parseDuration, parsePositiveInteger } from "./argument-parsers.ts";
import { completeNames, completeValues, type Completer } from "./complete.ts";

const completed = (complete: Completer | undefined) => (complete === undefined ? {} : { proposeCompletions: complete });

export const textFlag = (brief: string, placeholder: string, complete?: Completer) =>
  ({ kind: "parsed", parse: String, optional: true, brief, placeholder, ...completed(complete) }) as const;

export const numberFlag = (brief: string, placeholder: string, parse = parsePositiveInteger) =>
  ({ kind: "parsed", parse, optional: true, brief, placeholder }) as const;

export const choiceFlag = (brief: string, placeholder: string, ...values: readonly string[]) =>
  ({
    kind: "parsed",
    parse: parseChoice(...values),
    optional: true,
    brief,
    placeholder,
    proposeCompletions: completeValues(...values),
  }) as const;

export const repeatedFlag = (brief: string, placeholder: string, complete?: Completer) =>
  ({
    kind: "parsed",
    parse: String,
    optional: true,
    variadic: true,
    brief,
    placeholder,
    ...completed(complete),
  }) as const;

export const booleanFlag = (brief: string) => ({ kind: "boolean", brief, default: false, withNegated: false }) as const;

export const timeoutFlag = {
  kind: "parsed",
  parse: parseDuration,
  default: "5m",
  brief: "how long to wait: 90s, 5m, 2h",
  placeholder: "time",
} as const;

export const keepWaitingFlag = booleanFlag("keep waiting when a problem needs action, such as a missing image");

/** Flags of commands that can wait for a deployment. */
export const waitFlags = (brief: string) =>
  ({ wait: booleanFlag(brief), timeout: timeoutFlag, keepWaiting: keepWaitingFlag }) as const;

export const revisionFlag = numberFlag("the revision to restore; the previous one by default", "revision");

export const yesFlag = booleanFlag("do not ask for confirmation");

export const reasonFlag = textFlag("reason to record in the history", "text");

export const filesFlag = {
  kind: "parsed",
  parse: String,
  variadic: true,
  brief: "a file, a folder, or - for standard input; may be repeated",
  placeholder: "path",
} as const;

export const clusterFlag = textFlag("in this cluster only", "name", completeNames("cluster"));

export const packageFlag = textFlag("only of this package", "name", completeNames("package"));

export const outputFlag = textFlag(
  "table, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=HEADER:PATH,…",
  "format",
  completeValues("table", "wide", "json", "yaml", "name", "jsonpath=", "custom-columns="),
);
