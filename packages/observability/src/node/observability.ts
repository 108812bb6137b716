import type { Ambient } from "@oaas/foundation";
import { LOG_FIELDS } from "../log-fields.ts";
import type { Logger, LogThreshold } from "../logger.ts";
import type { ContextStore } from "../work-context.ts";
import { createSampler, type SamplerName } from "../sampler.ts";
import { createTracer, NOOP_TRACER, type Tracer } from "../tracer.ts";
import { createAsyncContext } from "./async-context.ts";
import { createFdDestination, type LogDestination } from "./fd-destination.ts";
import { OtlpExporter } from "./otlp-exporter.ts";
import { createPinoLogger } from "./pino-logger.ts";
import { createPrettyDestination } from "./pretty-destination.ts";
import { createPrometheusMeter, type PrometheusMeter, type PrometheusMeterOptions } from "./prometheus-meter.ts";

export interface ObservabilityOptions {
  readonly service: string;
  readonly version: string;
  readonly ambient: Pick<Ambient, "clock" | "timers" | "ids">;
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
  /** Without it no spans are recorded. */
  readonly tracing?: TracingOptions | undefined;
}

export interface TracingOptions {
  /** The URL that receives traces over OTLP/HTTP. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly sampler: SamplerName;
  /** Share of traces for the ratio samplers. */
  readonly ratio: number;
  readonly serviceName?: string | undefined;
  /** Identifies this process among those of the service. */
  readonly instanceId: string;
}

/** Log, metrics and work context of one service. */
export interface Observability {
  readonly log: Logger;
  readonly meter: PrometheusMeter;
  readonly context: ContextStore;
  readonly tracer: Tracer;
  /** Changes the level of the log and of all loggers derived from it without a level of their own. */
  setLogLevel(level: LogThreshold): void;
  /** Sends the spans that wait. */
  close(): Promise<void>;
}

/** Creates the real implementations for `main.ts`. Keeps no global state, so several services can share a process. */
export function createObservability(options: ObservabilityOptions): Observability {
  const context = createAsyncContext();
  let { level } = options.log;
  const log = createPinoLogger({
    clock: options.ambient.clock,
    context,
    level: () => level,
    destination: selectDestination(options.log),
    fields: { [LOG_FIELDS.service]: options.service, [LOG_FIELDS.version]: options.version },
  });
  const meter = createPrometheusMeter({ ...options.metrics, currentSpan: () => context.current().span });
  const tracing = options.tracing && openTracing(options, options.tracing, { log, meter, context });
  return {
    log,
    meter,
    context,
    tracer: tracing?.tracer ?? NOOP_TRACER,
    setLogLevel: (changed) => {
      level = changed;
    },
    close: async () => tracing?.exporter.close(),
  };
}

function openTracing(
  { service, version, ambient }: ObservabilityOptions,
  tracing: TracingOptions,
  { log, meter, context }: Pick<Observability, "log" | "meter" | "context">,
): { readonly tracer: Tracer; readonly exporter: OtlpExporter } {
  const exporter = new OtlpExporter({
    ...tracing,
    version,
    timers: ambient.timers,
    logger: log,
    meter,
    resource: {
      "service.name": tracing.serviceName ?? service,
      "service.version": version,
      "service.instance.id": tracing.instanceId,
    },
  });
  const sampler = createSampler(tracing.sampler, tracing.ratio);
  return { exporter, tracer: createTracer({ ...ambient, context, sampler, sink: exporter }) };
}

function selectDestination(log: ObservabilityOptions["log"]): LogDestination {
  const destination = log.destination ?? createFdDestination(1);
  const isPretty = log.format === "plain" || (log.format === "auto" && log.isTerminal);
  return isPretty ? createPrettyDestination(destination, log.isTerminal && log.colors !== false) : destination;
}
