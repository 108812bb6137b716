import { Fault, type Timers } from "@oaas/foundation";
import type { CrmConfig } from "../config.ts";
import type { AccessToken } from "../setting-kinds.ts";

/** The current secrets. */
export interface Secrets {
  /** The accepted bearer tokens; empty when none are configured. */
  readonly tokens: readonly AccessToken[];
  /** The token sent to the package manager. */
  readonly pmToken: string | undefined;
  /** The token sent to Prometheus. */
  readonly promToken: string | undefined;
  readonly promPassword: string | undefined;
}

/** Secrets that are reloaded until `close`. */
export interface WatchedSecrets {
  readonly current: () => Secrets;
  close(): void;
}

const POLL_INTERVAL_MS = 5_000;

export interface WatchSecretsOptions {
  readonly config: CrmConfig;
  /** Loads the configuration again, including files. */
  readonly reread: () => CrmConfig;
  readonly timers: Timers;
  readonly changed: () => void;
  readonly failed: (fault: Fault) => void;
}

/**
 * Polls the secrets in files.
 *
 * Guarantees: a missing or empty file keeps the last secrets, so that a lost token file never disables authentication.
 * `failed` is called once per outage.
 */
export function watchSecrets({ config, reread, timers, changed, failed }: WatchSecretsOptions): WatchedSecrets {
  let secrets = secretsOf(config);
  let hasFailed = false;
  const poll = (): void => {
    try {
      const loaded = secretsOf(reread());
      const tokens = loaded.tokens.length > 0 ? loaded.tokens : secrets.tokens;
      const next = {
        tokens,
        pmToken: loaded.pmToken ?? secrets.pmToken,
        promToken: loaded.promToken ?? secrets.promToken,
        promPassword: loaded.promPassword ?? secrets.promPassword,
      };
      hasFailed = false;
      if (JSON.stringify(next) !== JSON.stringify(secrets)) {
        secrets = next;
        changed();
      }
    } catch (thrown) {
      if (!hasFailed) failed(Fault.from(thrown));
      hasFailed = true;
    }
    timer = timers.after(POLL_INTERVAL_MS, poll);
  };
  let timer = timers.after(POLL_INTERVAL_MS, poll);
  return { current: () => secrets, close: () => timer.cancel() };
}

function secretsOf({ security, pm, prometheus }: CrmConfig): Secrets {
  return {
    tokens: security.tokens ?? [],
    pmToken: pm.token,
    promToken: prometheus.token,
    promPassword: prometheus.password,
  };
}
