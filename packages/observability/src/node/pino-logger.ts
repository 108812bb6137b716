import { timestamp, type Clock } from "@oaas/foundation";
import { pino } from "pino";
import { LOG_FIELDS } from "../log-fields.ts";
import { toLogFields } from "../log-value.ts";
import type { LogFields, Logger, LogLevel, LogThreshold } from "../logger.ts";
import { contextFields, NOOP_CONTEXT, type ContextStore } from "../work-context.ts";
import type { LogDestination } from "./fd-destination.ts";

export interface PinoLoggerOptions {
  readonly clock: Pick<Clock, "now">;
  readonly level: LogThreshold;
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
      level: options.level === "off" ? "silent" : options.level,
      messageKey: LOG_FIELDS.message,
      timestamp: () => `,"${LOG_FIELDS.time}":"${timestamp(clock.now())}"`,
      formatters: { level: (label) => ({ [LOG_FIELDS.level]: label }) },
    },
    destination,
  );

  const bind = (bound: LogFields, level = root.level): Logger => {
    const child = root.child(bound, { level });
    const write = (severity: LogLevel) => {
      if (!child.isLevelEnabled(severity)) return () => undefined;
      return (message: string, fields: LogFields = {}) => {
        try {
          const line = { ...omit(contextFields(context.current()), bound), ...toLogFields(fields) };
          // pino writes a key twice when a line repeats a bound field, and strict JSON parsers reject such lines.
          const overrides = Object.keys(line).some((key) => Object.hasOwn(bound, key));
          const target = overrides ? root.child(omit(bound, line), { level }) : child;
          target[severity](line, message);
        } catch {
          // A failing destination costs the line, never the caller.
        }
      };
    };
    return {
      trace: write("trace"),
      debug: write("debug"),
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
      fatal: write("fatal"),
      isEnabled: (severity) => child.isLevelEnabled(severity),
      child: (fields, { level: own = level } = {}) => bind({ ...bound, ...toLogFields(fields) }, own),
    };
  };
  return bind(toLogFields(options.fields ?? {}));
}

function omit(fields: LogFields, keys: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !Object.hasOwn(keys, key)));
}
