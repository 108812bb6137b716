import { timestamp, type Clock } from "@oaas/foundation";
import { RESERVED_FIELDS } from "./log-fields.ts";
import { putLoggable } from "./loggable.ts";
import { contextFields, NOOP_CONTEXT, type ContextStore } from "./work-context.ts";

/** Severities, least first. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Least severity that is written. */
export type LogThreshold = LogLevel | "off";

export type LogFields = Readonly<Record<string, unknown>>;

type LogMethod = (message: string, fields?: LogFields) => void;

/**
 * Writes log lines. The message is constant; what varies goes into fields.
 *
 * Guarantees: never throws, whatever the fields are; secrets are hidden by the name of their key. A field given with
 * the line wins over one bound to the logger, which wins over the context of the work.
 */
export interface Logger extends Readonly<Record<LogLevel, LogMethod>> {
  /** Whether a line of this level would be written; for lines whose fields are dear to compute. */
  isEnabled(level: LogLevel): boolean;
  /** A logger that puts these fields into every line. */
  child(fields: LogFields): Logger;
  /** Lines that are logged by `work`, before it returns, are written as one piece when it has: many lines for the price of one. */
  together(work: () => void): void;
}

/** A line before it becomes text: fields are plain JSON and hold no secrets. */
export interface LogRecord {
  readonly time: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Takes finished records. Should not throw; what it throws is dropped. */
export type LogSink = (record: LogRecord) => void;

export interface LoggerOptions {
  readonly clock: Pick<Clock, "now">;
  readonly sink: LogSink;
  readonly level: LogThreshold;
  /** Has what is handed to the sink by `work` written as one piece; by default each line is by itself. */
  readonly together?: (work: () => void) => void;
  /** Supplies correlation id, deployment id and trace of the running work. */
  readonly context?: ContextStore;
  readonly fields?: LogFields;
}

/** A logger that hands its records to a sink. The only clock is the one given. */
export function createLogger(options: LoggerOptions): Logger {
  const context = options.context ?? NOOP_CONTEXT;
  const least = options.level === "off" ? LOG_LEVELS.length : LOG_LEVELS.indexOf(options.level);
  const isEnabled = (level: LogLevel): boolean => LOG_LEVELS.indexOf(level) >= least;
  const withFields = (bound: LogFields): Logger => {
    // The same in every line, so it is made fit for one once.
    const always = putLoggable({}, bound, RESERVED_FIELDS);
    const methodOf = (level: LogLevel): LogMethod =>
      isEnabled(level)
        ? (message, fields) => {
            const line = Object.assign(contextFields(context.current()), always);
            if (fields !== undefined) putLoggable(line, fields, RESERVED_FIELDS);
            emit(options.sink, { time: options.clock.now(), level, message, fields: line });
          }
        : () => undefined;
    return {
      trace: methodOf("trace"),
      debug: methodOf("debug"),
      info: methodOf("info"),
      warn: methodOf("warn"),
      error: methodOf("error"),
      fatal: methodOf("fatal"),
      isEnabled,
      child: (fields) => withFields({ ...bound, ...fields }),
      together: options.together ?? ((work) => work()),
    };
  };
  return withFields(options.fields ?? {});
}

/** A log must not be what stops the work: a sink that fails loses its line and nothing else. */
function emit(sink: LogSink, record: LogRecord): void {
  try {
    sink(record);
  } catch {
    return;
  }
}

/** The time of a record as lines show it: RFC 3339 in UTC. */
export function recordTime(record: LogRecord): string {
  return timestamp(record.time);
}

/** Writes nothing. */
export const NOOP_LOGGER: Logger = createLogger({ clock: { now: () => 0 }, sink: () => undefined, level: "off" });
