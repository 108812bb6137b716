import type { Fault } from "@oaas/foundation";
import { EXIT, exitCodeOf, type ExitCode, type UsageError } from "../exit-code.ts";

/** A usage error as one JSON object in one line. */
export function usageErrorJson({ message, fix }: Pick<UsageError, "message" | "fix">): string {
  return lineOf({ error: message, kind: "usage", exit_code: EXIT.usage, ...(fix === undefined ? {} : { fix }) });
}

interface FaultJsonOptions {
  readonly fix?: string | undefined;
  readonly exitCode?: ExitCode;
  /** Formats the location of a JSONPath in a file. */
  readonly locate?: (path: string) => string;
}

/** A fault as one JSON object in one line; violations in a file have their location. */
export function faultJson(fault: Fault, { fix, exitCode = exitCodeOf(fault), locate }: FaultJsonOptions = {}): string {
  const { message, kind, code, violations, correlationId } = fault;
  const located = violations.map((each) => (locate === undefined ? each : { ...each, location: locate(each.path) }));
  return lineOf({
    error: message,
    kind,
    code,
    exit_code: exitCode,
    ...(violations.length === 0 ? {} : { violations: located }),
    ...(fix === undefined ? {} : { fix }),
    ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
  });
}

function lineOf(error: object): string {
  return `${JSON.stringify(error)}\n`;
}
