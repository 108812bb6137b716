import { createLogger, type Logger, type LogLevel, type LogRecord } from "../logger.ts";
import { NOOP_CONTEXT, type ContextStore } from "../work-context.ts";

/** A logger that keeps its records, every level, for a test to look at. */
export interface RecordingLogger {
  readonly log: Logger;
  readonly records: readonly LogRecord[];
  /** The messages of one level, in order. */
  messages(level: LogLevel): readonly string[];
  /** The only record with this message; throws when there is none or more than one. */
  only(message: string): LogRecord;
}

/** Starts recording. Time stands at 0 unless a clock is given, so that records compare. */
export function createRecordingLogger(
  options: { readonly clock?: { now(): number }; readonly context?: ContextStore } = {},
): RecordingLogger {
  const records: LogRecord[] = [];
  const log = createLogger({
    clock: options.clock ?? { now: () => 0 },
    context: options.context ?? NOOP_CONTEXT,
    level: "trace",
    sink: (record) => void records.push(record),
  });
  return {
    log,
    records,
    messages: (level) => records.filter((record) => record.level === level).map((record) => record.message),
    only: (message) => {
      const [found, another] = records.filter((record) => record.message === message);
      if (found !== undefined && another === undefined) return found;
      const seen = records.map((record) => `${record.level} ${record.message}`).join("\n  ");
      throw new Error(`expected one line "${message}", but the log was:\n  ${seen}`);
    },
  };
}
