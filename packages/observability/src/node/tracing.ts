import { orAbort, startDeadline, type Clock, type Random, type Timers } from "@oaas/foundation";
import type { Logger } from "../logger.ts";
import { createPropagatingTracer, type Tracer } from "../tracer.ts";
import type { ContextStore } from "../work-context.ts";

export interface TracerOptions {
  readonly service: string;
  readonly version: string;
  /** Collector for OTLP over HTTP; without it nothing is traced and no SDK is loaded. */
  readonly endpoint?: string | undefined;
  /** Share of new traces that is recorded; a caller's own decision is followed. */
  readonly sampleRatio?: number;
  /** How long one export may take, the library's own retries included; 5 s by default. */
  readonly exportTimeoutMs?: number;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly context: ContextStore;
  readonly log: Logger;
}

/** A tracer with the background work that belongs to it. */
export interface RunningTracer {
  readonly tracer: Tracer;
  /** Sends what is finished. */
  flush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** The tracer that the options ask for. Loads OpenTelemetry only when there is an endpoint. */
export async function createTracer(options: TracerOptions): Promise<RunningTracer> {
  if (options.endpoint === undefined || options.endpoint === "") {
    const nothing = async (): Promise<void> => undefined;
    return { tracer: createPropagatingTracer(options.context), flush: nothing, shutdown: nothing };
  }
  if (URL.parse(options.endpoint)?.port === "4317") {
    options.log.warn("the tracing endpoint has the port of OTLP over gRPC; ours speaks HTTP, usually on 4318", {
      endpoint: options.endpoint,
    });
  }
  const { createOtelTracer } = await import("./otel-tracer.ts");
  return createOtelTracer(options, options.endpoint);
}

/**
 * Ends a tracer, sending what is left, but in bounded time: a collector that hangs does not hold up the stop.
 *
 * Caveats: the library's retries may keep the event loop alive up to `exportTimeoutMs`; `main.ts` ends the process.
 */
export async function closeTracer(running: RunningTracer, options: TracerOptions, withinMs: number): Promise<void> {
  using deadline = startDeadline(options, withinMs);
  try {
    await orAbort(running.shutdown(), deadline.signal);
  } catch (thrown) {
    options.log.warn("the last traces were not exported", { fault: thrown });
  }
}
