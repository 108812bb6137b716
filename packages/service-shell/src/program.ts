import type { ConfigSchema, LogLevelSetting } from "@oaas/config";
import type { Ambient } from "@oaas/foundation";
import type { Observability } from "@oaas/observability/node";

/** Settings that every service has: the group `loggingVariables` of the config package. */
export interface ServiceConfig {
  readonly log: { readonly level: LogLevelSetting; readonly format: "json" | "plain" | "auto" };
}

/** The real world as a service gets it. */
export interface World<C> {
  readonly ambient: Ambient;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output is a terminal: someone may be reading. */
  readonly isTerminal: boolean;
  readonly observability: Observability;
  /** The configuration as its sources are now: what `<NAME>_FILE` variables name is read again. Throws as the start would. */
  readonly reread: () => C;
}

/** A service that was started. */
export interface RunningService {
  /** Ends everything in order and in bounded time. Called once. */
  close(): Promise<void>;
}

/** A service, as its `main.ts` describes it. */
export interface ServiceProgram<C extends ServiceConfig> {
  /** In log lines and traces. */
  readonly service: string;
  readonly version: string;
  readonly config: ConfigSchema<C>;
  /** Signals that stop it. SIGINT and SIGTERM by default. */
  readonly signals?: readonly NodeJS.Signals[];
  /** Begins to serve. When it throws, it has ended what it began. */
  start(config: C, world: World<C>): Promise<RunningService>;
}
