/**
 * What every service's `main.ts` does, once. Imported by `main.ts` files only: everyone else takes ports.
 *
 * Reading order: program (what a service says of itself), real/run-service (command line to exit code).
 */
export type { RunningService, ServiceConfig, ServiceProgram, World } from "./program.ts";
export { runService } from "./real/run-service.ts";
