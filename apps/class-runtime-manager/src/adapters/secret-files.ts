import { Fault, type Timers } from "@oaas/foundation";
import type { CrmConfig } from "../config.ts";

/** The secrets that count now. */
export interface Secrets {
  /** Of which callers must send one; empty when nothing was configured. */
  readonly tokens: readonly string[];
  /** What we send to the package manager. */
  readonly pmToken: string | undefined;
}

/** Secrets that are followed. `close` ends that. */
export interface FollowedSecrets {
  readonly current: () => Secrets;
  close(): void;
}

const LOOK_EVERY_MS = 5_000;

export interface FollowOptions {
  readonly config: CrmConfig;
  /** Reads the configuration again, files included. */
  readonly reread: () => CrmConfig;
  readonly timers: Timers;
  readonly changed: () => void;
  readonly failed: (fault: Fault) => void;
}

/**
 * Secrets from files, read again from time to time.
 *
 * Guarantees: a file that cannot be read, or is empty, changes nothing: a door with a lock never opens because its key got lost. Told once, until it can be read again.
 */
export function followSecrets({ config, reread, timers, changed, failed }: FollowOptions): FollowedSecrets {
  let secrets = secretsOf(config);
  let hasFailed = false;
  const look = (): void => {
    try {
      const found = secretsOf(reread());
      const tokens = found.tokens.length > 0 ? found.tokens : secrets.tokens;
      const next = { tokens, pmToken: found.pmToken ?? secrets.pmToken };
      hasFailed = false;
      if (next.tokens.join() !== secrets.tokens.join() || next.pmToken !== secrets.pmToken) {
        secrets = next;
        changed();
      }
    } catch (thrown) {
      if (!hasFailed) failed(Fault.from(thrown));
      hasFailed = true;
    }
    timer = timers.after(LOOK_EVERY_MS, look);
  };
  let timer = timers.after(LOOK_EVERY_MS, look);
  return { current: () => secrets, close: () => timer.cancel() };
}

function secretsOf({ security, pm }: CrmConfig): Secrets {
  return { tokens: security.tokens ?? [], pmToken: pm.token };
}
