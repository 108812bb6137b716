import type { ConfigSchema, LogLevelSetting } from "@oaas/config";
import type { Ambient } from "@oaas/foundation";
import type { Observability, TracingOptions } from "@oaas/observability/node";

/** Settings of services: the groups `loggingVariables` and `tracingVariables` of the config package. */
export interface ServiceConfig {
  /** Absent in services that emit no spans. */
  readonly tracing?: TracingConfig;
  readonly log: { readonly level: LogLevelSetting; readonly format: "json" | "plain" | "auto" };
}

export interface TracingConfig {
  readonly endpoint?: string | undefined;
  readonly headers?: string | undefined;
  readonly timeoutMs: number;
  readonly sampler: TracingOptions["sampler"];
  readonly ratio: number;
  readonly serviceName?: string | undefined;
}

/** The process a service runs in. */
export interface ProcessEnvironment<C> {
  readonly ambient: Ambient;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  readonly observability: Observability;
  /**
   * Loads the configuration again: the files of `<NAME>_FILE` variables, and the last valid configuration file. Throws
   * if it is invalid.
   */
  readonly reloadConfig: () => C;
  /**
   * Calls the listener after the configuration file changed. Only settings that reload may take effect. A listener that
   * throws must have changed nothing; the last valid file then stays in use.
   */
  readonly onConfigChange: (listener: (config: C) => void) => void;
  /** Why the configuration file is not in effect as it is now; empty when it is. */
  readonly configWarnings: () => readonly string[];
}

/** A started service. */
export interface RunningService {
  /** Stops everything in order and in bounded time. Called once. */
  close(): Promise<void>;
}

/** Definition of a service in its `main.ts`. */
export interface ServiceProgram<C extends ServiceConfig> {
  /** Name in log lines. */
  readonly service: string;
  readonly version: string;
  readonly config: ConfigSchema<C>;
  /** Signals that stop the service; SIGINT and SIGTERM by default. */
  readonly signals?: readonly NodeJS.Signals[];
  /** Starts the service. Must release everything it started before it throws. */
  start(config: C, environment: ProcessEnvironment<C>): Promise<RunningService>;
}
