/** Severities in ascending order. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Lowest severity that is written. */
export type LogThreshold = LogLevel | "off";

export type LogFields = Readonly<Record<string, unknown>>;

type LogMethod = (message: string, fields?: LogFields) => void;

/**
 * Writes log lines. The message is constant; variable data goes into fields.
 *
 * Guarantees: never throws; values of secret keys are redacted. A field of the line overrides a field bound with
 * `child`, which overrides a field of the work context.
 */
export interface Logger extends Readonly<Record<LogLevel, LogMethod>> {
  /** Whether lines of this level are written. Check it before computing expensive fields. */
  isEnabled(level: LogLevel): boolean;
  /** Returns a logger that adds these fields to every line, and writes lines from `level` on if given. */
  child(fields: LogFields, options?: { readonly level?: LogLevel }): Logger;
}

const ignore = (): void => undefined;

/** Writes nothing. */
export const NOOP_LOGGER: Logger = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  fatal: ignore,
  isEnabled: () => false,
  child: () => NOOP_LOGGER,
};
