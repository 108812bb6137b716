/**
 * The process shell of a service. Imported by `main.ts` files only; other code depends on ports.
 *
 * Reading order: program (definition of a service), real/run-service (command line to exit code).
 */
export type { ProcessEnvironment, RunningService, ServiceConfig, ServiceProgram } from "./program.ts";
export { runService } from "./real/run-service.ts";
