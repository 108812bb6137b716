import type { Logger, LogLevel } from "../logger.ts";
import { createPinoLogger } from "../node/pino-logger.ts";
import type { ContextStore } from "../work-context.ts";

/** A written log line. Fields are plain JSON with secrets redacted. */
export interface LogRecord {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that keeps the records of every level for assertions. */
export interface RecordingLogger {
  readonly log: Logger;
  readonly records: readonly LogRecord[];
  /** Returns the messages of one level, in order. */
  messages(level: LogLevel): readonly string[];
  /** Returns the only record with this message; throws when there is none or more than one. */
  only(message: string): LogRecord;
}

/** The clock stays at 0 unless one is passed, so that records are comparable. */
export function createRecordingLogger(
  options: { readonly clock?: { now(): number }; readonly context?: ContextStore } = {},
): RecordingLogger {
  const records: LogRecord[] = [];
  const log = createPinoLogger({
    clock: options.clock ?? { now: () => 0 },
    level: "trace",
    destination: { write: (line) => void records.push(parseRecord(line)) },
    ...(options.context === undefined ? {} : { context: options.context }),
  });
  return {
    log,
    records,
    messages: (level) => records.filter((record) => record.level === level).map((record) => record.message),
    only: (message) => {
      const [found, another] = records.filter((record) => record.message === message);
      if (found !== undefined && another === undefined) return found;
      const lines = records.map((record) => `${record.level} ${record.message}`).join("\n  ");
      throw new Error(`expected one line "${message}", but the log was:\n  ${lines}`);
    },
  };
}

function parseRecord(line: string): LogRecord {
  const { time, level, message, ...fields } = JSON.parse(line) as Omit<LogRecord, "time"> & { readonly time: string };
  return { time: Date.parse(time), level, message, fields };
}
