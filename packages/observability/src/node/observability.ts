import type { Ambient } from "@oaas/foundation";
import { LOG_FIELDS } from "../log-fields.ts";
import type { Logger, LogThreshold } from "../logger.ts";
import type { Tracer } from "../tracer.ts";
import type { ContextStore } from "../work-context.ts";
import { createAsyncContext } from "./async-context.ts";
import { createFdDestination, type LogDestination } from "./fd-destination.ts";
import { createPinoLogger } from "./pino-logger.ts";
import { createPrettyDestination } from "./pretty-destination.ts";
import { createPrometheusMeter, type PrometheusMeter, type PrometheusMeterOptions } from "./prometheus-meter.ts";
import { closeTracer, createTracer, type TracerOptions } from "./tracing.ts";

export interface ObservabilityOptions {
  readonly service: string;
  readonly version: string;
  readonly ambient: Pick<Ambient, "clock" | "timers" | "random">;
  readonly log: {
    readonly level: LogThreshold;
    /** auto is plain on a terminal and JSON elsewhere. */
    readonly format: "json" | "plain" | "auto";
    /** Standard output by default. */
    readonly destination?: LogDestination;
    /** Whether the destination is a terminal. */
    readonly isTerminal: boolean;
    /** Colours on a terminal, unless NO_COLOR asks for none. */
    readonly colors?: boolean;
  };
  readonly metrics?: PrometheusMeterOptions;
  readonly tracing?: Pick<TracerOptions, "endpoint" | "sampleRatio" | "exportTimeoutMs"> & {
    readonly serviceName?: string;
  };
}

/** Everything by which a service is observed. `close` sends what is left, in bounded time, and may be called twice. */
export interface Observability {
  readonly log: Logger;
  readonly meter: PrometheusMeter;
  readonly tracer: Tracer;
  readonly context: ContextStore;
  close(withinMs?: number): Promise<void>;
}

/** Builds the real thing for `main.ts`. Holds no global state: each call is one service. */
export async function createObservability(options: ObservabilityOptions): Promise<Observability> {
  const context = createAsyncContext();
  const { clock, timers, random } = options.ambient;
  const log = createPinoLogger({
    clock,
    context,
    level: options.log.level,
    destination: selectDestination(options.log),
    fields: { [LOG_FIELDS.service]: options.service, [LOG_FIELDS.version]: options.version },
  });
  const tracing: TracerOptions = {
    ...options.tracing,
    service: options.tracing?.serviceName ?? options.service,
    version: options.version,
    clock,
    timers,
    random,
    context,
    log,
  };
  const running = await createTracer(tracing);
  let closing: Promise<void> | undefined;
  return {
    log,
    meter: createPrometheusMeter(options.metrics),
    tracer: running.tracer,
    context,
    close: (withinMs = 5000) => (closing ??= closeTracer(running, tracing, withinMs)),
  };
}

function selectDestination(log: ObservabilityOptions["log"]): LogDestination {
  const destination = log.destination ?? createFdDestination(1);
  const isPretty = log.format === "plain" || (log.format === "auto" && log.isTerminal);
  return isPretty ? createPrettyDestination(destination, log.isTerminal && log.colors !== false) : destination;
}
