/**
 * Real implementations with pino, prom-client and AsyncLocalStorage. Imported by `main.ts` files only.
 *
 * Reading order: observability (the entry point), async-context, pino-logger with fd-destination and
 * pretty-destination (logs), prometheus-meter (metrics), otlp-exporter (traces).
 */
export {
  createObservability,
  type Observability,
  type ObservabilityOptions,
  type TracingOptions,
} from "./observability.ts";
export { createAsyncContext } from "./async-context.ts";
export { createFdDestination, type LogDestination } from "./fd-destination.ts";
export { createPinoLogger, type PinoLoggerOptions } from "./pino-logger.ts";
export { OtlpExporter, type OtlpExporterOptions } from "./otlp-exporter.ts";
export { createPrettyDestination } from "./pretty-destination.ts";
export { createPrometheusMeter, type PrometheusMeter, type PrometheusMeterOptions } from "./prometheus-meter.ts";
