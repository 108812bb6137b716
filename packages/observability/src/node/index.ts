/**
 * Real implementations with pino, prom-client and AsyncLocalStorage. Imported by `main.ts` files only.
 *
 * Reading order: observability (the entry point), async-context, pino-logger with fd-destination and
 * pretty-destination (logs), prometheus-meter (metrics).
 */
export { createObservability, type Observability, type ObservabilityOptions } from "./observability.ts";
export { createAsyncContext } from "./async-context.ts";
export { createFdDestination, type LogDestination } from "./fd-destination.ts";
export { createPinoLogger, type PinoLoggerOptions } from "./pino-logger.ts";
export { createPrettyDestination } from "./pretty-destination.ts";
export { createPrometheusMeter, type PrometheusMeter, type PrometheusMeterOptions } from "./prometheus-meter.ts";
