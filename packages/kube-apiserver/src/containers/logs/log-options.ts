import { err, ok, type Result } from "@oaas/foundation";
import type { Status } from "@oaas/kube-core";
import { epochMs } from "../../controllers/objects/time.ts";
import { isTrue } from "../../request/query/list-options.ts";
import { formatNotInteger, isGoInteger } from "../../request/query/options.ts";
import { badRequest, invalid } from "../../request/response/status-errors.ts";
import { forbiddenField, invalidField, type FieldError } from "../../schema/field-error.ts";

/** The PodLogOptions of a request. */
export interface LogOptions {
  /** Empty: the only container. */
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly sinceMs?: number;
  readonly tailLines?: number;
  readonly limitBytes?: number;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Parses and validates the query of a log request. */
export function parseLogOptions(query: URLSearchParams, pod: string, now: number): Result<LogOptions, Status> {
  const numbers = new Map<string, number>();
  for (const name of ["tailLines", "limitBytes", "sinceSeconds"]) {
    const text = query.get(name);
    if (text === null) continue;
    if (!isGoInteger(text)) return err(badRequest(formatNotInteger("ParseInt", text)));
    numbers.set(name, Number(text));
  }
  const sinceTime = query.get("sinceTime") ?? "";
  if (sinceTime !== "" && (!TIME.test(sinceTime) || epochMs(sinceTime) === undefined)) {
    return err(badRequest(formatNotTime(sinceTime)));
  }
  const errors = validate(query, numbers);
  if (errors.length > 0) return err(invalid({ group: "", kind: "PodLogOptions" }, pod, errors));
  const [tailLines, limitBytes, sinceSeconds] = ["tailLines", "limitBytes", "sinceSeconds"].map((name) =>
    numbers.get(name),
  );
  const sinceMs = sinceSeconds === undefined ? epochMs(sinceTime) : now - sinceSeconds * 1000;
  return ok({
    container: query.get("container") ?? "",
    follow: isTrue(query.get("follow")),
    previous: isTrue(query.get("previous")),
    timestamps: isTrue(query.get("timestamps")),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
  });
}

function validate(query: URLSearchParams, numbers: ReadonlyMap<string, number>): readonly FieldError[] {
  const { tailLines = 0, limitBytes = 1, sinceSeconds = 1 } = Object.fromEntries(numbers);
  const hasBoth = numbers.has("sinceSeconds") && (query.get("sinceTime") ?? "") !== "";
  return [
    ...(tailLines < 0 ? [invalidField("tailLines", tailLines, "must be greater than or equal to 0")] : []),
    ...(limitBytes < 1 ? [invalidField("limitBytes", limitBytes, "must be greater than 0")] : []),
    ...(hasBoth ? [forbiddenField("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified")] : []),
    ...(!hasBoth && sinceSeconds < 1 ? [invalidField("sinceSeconds", sinceSeconds, "must be greater than 0")] : []),
    // Split streams are an alpha feature of the release.
    ...((query.get("stream") ?? "") === "" ? [] : [forbiddenField("stream", "may not be specified")]),
  ];
}

function formatNotTime(text: string): string {
  const quoted = JSON.stringify(text);
  return `parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as "2006"`;
}
