import type { Ambient } from "@oaas/foundation";
import { LOG_FIELDS } from "../log-fields.ts";
import { createLogger, type Logger, type LogThreshold } from "../logger.ts";
import type { Tracer } from "../tracer.ts";
import type { ContextStore } from "../work-context.ts";
import { createAsyncContext } from "./async-context.ts";
import { createFdDestination, type LogDestination } from "./fd-destination.ts";
import { createHumanSink } from "./human-sink.ts";
import { createJsonSink } from "./json-sink.ts";
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
  const destination = options.log.destination ?? createFdDestination(1);
  const log = createLogger({
    clock,
    context,
    level: options.log.level,
    sink: sinkOf(options.log, destination),
    together: (work) => (destination.together ? destination.together(work) : work()),
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

function sinkOf(log: ObservabilityOptions["log"], destination: LogDestination): ReturnType<typeof createJsonSink> {
  const isPlain = log.format === "plain" || (log.format === "auto" && log.isTerminal);
  return isPlain ? createHumanSink(destination, log.isTerminal && log.colors !== false) : createJsonSink(destination);
}
