import { timestamp, type Clock } from "@oaas/foundation";
import { pino } from "pino";
import { LOG_FIELDS } from "../log-fields.ts";
import { toLogFields } from "../log-value.ts";
import type { LogFields, Logger, LogLevel, LogThreshold } from "../logger.ts";
import { contextFields, NOOP_CONTEXT, type ContextStore } from "../work-context.ts";
import type { LogDestination } from "./fd-destination.ts";

export interface PinoLoggerOptions {
  readonly clock: Pick<Clock, "now">;
  /** A function is asked for every line, so that the level can change. */
  readonly level: LogThreshold | (() => LogThreshold);
  readonly destination: LogDestination;
  /** Supplies the correlation id, deployment id and trace context of the running work. */
  readonly context?: ContextStore;
  readonly fields?: LogFields;
}

/** A logger that writes one JSON object per line: level and time first, message last. Writes synchronously. */
export function createPinoLogger(options: PinoLoggerOptions): Logger {
  const { clock, destination, context = NOOP_CONTEXT } = options;
  const root = pino(
    {
      base: null,
      // The threshold below decides: it can change, and pino copies its level into every child.
      level: "trace",
      messageKey: LOG_FIELDS.message,
      timestamp: () => `,"${LOG_FIELDS.time}":"${timestamp(clock.now())}"`,
      formatters: { level: (label) => ({ [LOG_FIELDS.level]: label }) },
    },
    destination,
  );

  const { level } = options;
  const ownThreshold = typeof level === "function" ? level : () => level;
  const bind = (bound: LogFields, threshold: () => LogThreshold): Logger => {
    const child = root.child(bound);
    const isEnabled = (severity: LogLevel): boolean => RANK[severity] >= RANK[threshold()];
    const write =
      (severity: LogLevel) =>
      (message: string, fields: LogFields = {}) => {
        if (!isEnabled(severity)) return;
        try {
          const line = { ...omit(contextFields(context.current()), bound), ...toLogFields(fields) };
          // pino writes a key twice when a line repeats a bound field, and strict JSON parsers reject such lines.
          const overrides = Object.keys(line).some((key) => Object.hasOwn(bound, key));
          const target = overrides ? root.child(omit(bound, line)) : child;
          target[severity](line, message);
        } catch {
          // A failing destination costs the line, never the caller.
        }
      };
    return {
      trace: write("trace"),
      debug: write("debug"),
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
      fatal: write("fatal"),
      isEnabled,
      child: (fields, { level: own } = {}) =>
        bind({ ...bound, ...toLogFields(fields) }, own === undefined ? threshold : () => own),
    };
  };
  return bind(toLogFields(options.fields ?? {}), ownThreshold);
}

const RANK: Readonly<Record<LogThreshold, number>> = {
  trace: 0,
  debug: 1,
  info: 2,
  warn: 3,
  error: 4,
  fatal: 5,
  off: 6,
};

function omit(fields: LogFields, keys: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !Object.hasOwn(keys, key)));
}
