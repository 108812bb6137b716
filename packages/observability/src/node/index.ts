/**
 * The real wiring: pino, prom-client, OpenTelemetry, AsyncLocalStorage. Imported by `main.ts` files only.
 *
 * Reading order: observability (the whole), async-context, pino-logger with fd-destination and pretty-destination (logs),
 * prometheus-meter, tracing (which loads otel-tracer only when traces have somewhere to go).
 */
export { createObservability, type Observability, type ObservabilityOptions } from "./observability.ts";
export { createAsyncContext } from "./async-context.ts";
export { createFdDestination, type LogDestination } from "./fd-destination.ts";
export { createPinoLogger, type PinoLoggerOptions } from "./pino-logger.ts";
export { createPrettyDestination } from "./pretty-destination.ts";
export { createPrometheusMeter, type PrometheusMeter, type PrometheusMeterOptions } from "./prometheus-meter.ts";
export { closeTracer, createTracer, type RunningTracer, type TracerOptions } from "./tracing.ts";
