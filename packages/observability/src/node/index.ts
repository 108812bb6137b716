/**
 * The real wiring: pino, prom-client, OpenTelemetry, AsyncLocalStorage. Imported by `main.ts` files only.
 *
 * Reading order: observability (the whole), async-context, fd-destination with json-sink and human-sink (logs),
 * prometheus-meter, tracing (which loads otel-tracer only when traces have somewhere to go).
 */
export { createObservability, type Observability, type ObservabilityOptions } from "./observability.ts";
export { createAsyncContext } from "./async-context.ts";
export { createFdDestination, type LogDestination } from "./fd-destination.ts";
export { createJsonSink } from "./json-sink.ts";
export { createHumanSink } from "./human-sink.ts";
export { createPrometheusMeter, type PrometheusMeter, type PrometheusMeterOptions } from "./prometheus-meter.ts";
export { closeTracer, createTracer, type RunningTracer, type TracerOptions } from "./tracing.ts";
