import type { Clock } from "@oaas/foundation";
import { LOG_FIELDS } from "../log-fields.ts";
import type { Logger, LogThreshold } from "../logger.ts";
import type { ContextStore } from "../work-context.ts";
import { createAsyncContext } from "./async-context.ts";
import { createFdDestination, type LogDestination } from "./fd-destination.ts";
import { createPinoLogger } from "./pino-logger.ts";
import { createPrettyDestination } from "./pretty-destination.ts";
import { createPrometheusMeter, type PrometheusMeter, type PrometheusMeterOptions } from "./prometheus-meter.ts";

export interface ObservabilityOptions {
  readonly service: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: {
    readonly level: LogThreshold;
    /** `auto` is plain on a terminal and JSON elsewhere. */
    readonly format: "json" | "plain" | "auto";
    /** Standard output by default. */
    readonly destination?: LogDestination;
    /** Whether the destination is a terminal. */
    readonly isTerminal: boolean;
    /** Use colours on a terminal; true by default. */
    readonly colors?: boolean;
  };
  readonly metrics?: PrometheusMeterOptions;
}

/** Log, metrics and work context of one service. */
export interface Observability {
  readonly log: Logger;
  readonly meter: PrometheusMeter;
  readonly context: ContextStore;
}

/** Creates the real implementations for `main.ts`. Keeps no global state, so several services can share a process. */
export function createObservability(options: ObservabilityOptions): Observability {
  const context = createAsyncContext();
  const log = createPinoLogger({
    clock: options.clock,
    context,
    level: options.log.level,
    destination: selectDestination(options.log),
    fields: { [LOG_FIELDS.service]: options.service, [LOG_FIELDS.version]: options.version },
  });
  return { log, meter: createPrometheusMeter(options.metrics), context };
}

function selectDestination(log: ObservabilityOptions["log"]): LogDestination {
  const destination = log.destination ?? createFdDestination(1);
  const isPretty = log.format === "plain" || (log.format === "auto" && log.isTerminal);
  return isPretty ? createPrettyDestination(destination, log.isTerminal && log.colors !== false) : destination;
}
