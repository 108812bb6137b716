import { readFileSync, statSync } from "node:fs";
import type { TlsOptions } from "node:tls";
import { failedPrecondition, Fault, type Timers } from "@oaas/foundation";
import type { CrmConfig } from "../config.ts";

/** Certificates from files, read again when they are replaced. */
export interface TlsFiles {
  readonly options: TlsOptions;
  /** Looks at the files from time to time and hands out what changed. The answer ends that. */
  follow(timers: Timers, changed: (options: TlsOptions) => void, failed: (fault: Fault) => void): () => void;
}

const LOOK_EVERY_MS = 5_000;

/** The TLS of the configuration, or undefined when none is configured. */
export function tlsFiles({ mtls, certFile, keyFile, clientCaFile }: CrmConfig["security"]): TlsFiles | undefined {
  if (certFile === undefined || keyFile === undefined) return undefined;
  const files = [certFile, keyFile, ...(clientCaFile === undefined ? [] : [clientCaFile])];
  const stamps = (): string => files.map((file) => statSync(file).mtimeMs).join();
  const load = (): TlsOptions => ({
    cert: read(certFile),
    key: read(keyFile),
    ...(clientCaFile === undefined ? {} : { ca: read(clientCaFile) }),
    // Not refused here: health is for everyone. The port ends connections whose certificate does not verify, and calls without one are refused.
    ...(mtls ? { requestCert: true, rejectUnauthorized: false } : {}),
  });
  return {
    options: load(),
    follow: (timers, changed, failed) => {
      let last = stamps();
      const look = (): void => {
        try {
          const now = stamps();
          if (now !== last) changed(load());
          last = now;
        } catch (thrown) {
          failed(Fault.from(thrown));
        }
        timer = timers.after(LOOK_EVERY_MS, look);
      };
      let timer = timers.after(LOOK_EVERY_MS, look);
      return () => timer.cancel();
    },
  };
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw failedPrecondition(file, `${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
