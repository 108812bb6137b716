/**
 * The process shell of a service. Imported by `main.ts` files only; other code depends on ports.
 *
 * Reading order: program (definition of a service), real/run-service (command line to exit code).
 */
export type { ProcessEnvironment, RunningService, ServiceConfig, ServiceProgram, TracingConfig } from "./program.ts";
export { tracingOptions } from "./tracing-options.ts";
export { runService } from "./real/run-service.ts";
