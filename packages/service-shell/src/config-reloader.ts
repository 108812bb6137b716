import {
  changedSettings,
  configFault,
  loadConfig,
  parseConfig,
  type ConfigSchema,
  type ConfigSources,
} from "@oaas/config";
import { Fault, type Clock, type Timer, type Timers } from "@oaas/foundation";
import type { Gauge, Logger, Meter } from "@oaas/observability";

/** How often the file is read: comparing contents also notices renames and the symbolic links of ConfigMaps. */
const CHECK_INTERVAL_MS = 2_000;

export interface ConfigReloaderOptions<C> {
  readonly schema: ConfigSchema<C>;
  /** The sources of the start, with the text of the file then. */
  readonly sources: ConfigSources;
  /** Returns the text of the configuration file; throws a fault that says why it cannot. */
  readonly read: (path: string) => string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  readonly meter: Meter;
}

/**
 * Follows the configuration file.
 *
 * *Guarantees*: an invalid or unreadable file changes nothing; it is logged once, is a warning until it is fixed, and
 * sets `oaas_config_last_reload_successful` to 0. Settings that need a restart are named in one warning.
 */
export class ConfigReloader<C> {
  readonly #options: ConfigReloaderOptions<C>;
  readonly #listeners = new Set<(config: C) => void>();
  readonly #success: Gauge;
  readonly #successTime: Gauge;
  /** The sources with the last valid text. */
  #sources: ConfigSources;
  #seen: string;
  #problem: string | undefined;
  #restart: readonly string[] = [];
  #timer: Timer | undefined;

  constructor(options: ConfigReloaderOptions<C>) {
    this.#options = options;
    this.#sources = options.sources;
    this.#seen = options.sources.file?.text ?? "";
    this.#success = options.meter.gauge({
      name: "oaas_config_last_reload_successful",
      help: "1 if the configuration file is in effect as it is now, 0 if it is invalid and the last valid one stays.",
    });
    this.#successTime = options.meter.gauge({
      name: "oaas_config_last_reload_success_timestamp_seconds",
      help: "Unix time at which the configuration file in effect was loaded.",
    });
    this.#reportSuccess();
  }

  /** Checks the file at an interval until `close`. */
  start(): void {
    this.#timer = this.#options.timers.after(CHECK_INTERVAL_MS, () => {
      this.check();
      this.start();
    });
  }

  close(): void {
    this.#timer?.cancel();
  }

  onChange(listener: (config: C) => void): void {
    this.#listeners.add(listener);
  }

  /** The configuration of the last valid file, with the contents of secret files as they are now. */
  load(): C {
    return loadConfig(this.#options.schema, this.#sources);
  }

  warnings(): readonly string[] {
    const path = this.#sources.file?.path ?? "";
    return [
      ...(this.#problem === undefined
        ? []
        : [`the configuration file ${path} cannot be used, and the last valid settings stay in use: ${this.#problem}`]),
      ...(this.#restart.length === 0
        ? []
        : [`the configuration file ${path} changed settings that need a restart: ${this.#restart.join(", ")}`]),
    ];
  }

  /** Reads the file and applies it if it changed. */
  check(): void {
    const { schema, read, log } = this.#options;
    const path = this.#sources.file?.path ?? "";
    let text: string;
    try {
      text = read(path);
    } catch (thrown) {
      // A file that comes back with the contents it had is in effect again.
      this.#seen = "";
      this.#reportProblem(path, Fault.from(thrown));
      return;
    }
    if (text === this.#seen && this.#problem === undefined) return;
    this.#seen = text;
    const sources = { ...this.#sources, file: { path, text } };
    const parsed = parseConfig(schema, sources);
    if (!parsed.ok) {
      this.#reportProblem(path, configFault(schema, parsed.error));
      return;
    }
    const { reloaded } = changedSettings(schema, this.#sources, sources);
    try {
      for (const listener of this.#listeners) listener(parsed.value);
    } catch (thrown) {
      this.#reportProblem(path, Fault.from(thrown));
      return;
    }
    const { restart } = changedSettings(schema, this.#options.sources, sources);
    this.#sources = sources;
    this.#reportSuccess();
    log.info("reloaded configuration file", { file: path, changed: reloaded });
    if (restart.join() !== this.#restart.join() && restart.length > 0) {
      log.warn("changed settings need a restart", { file: path, settings: restart });
    }
    this.#restart = restart;
  }

  #reportSuccess(): void {
    this.#problem = undefined;
    this.#success.set(1);
    this.#successTime.set(this.#options.clock.now() / 1000);
  }

  #reportProblem(file: string, fault: Fault): void {
    if (this.#problem === fault.message) return;
    this.#problem = fault.message;
    this.#success.set(0);
    this.#options.log.error("reload configuration file failed; keeping the last valid settings", { file, fault });
  }
}
