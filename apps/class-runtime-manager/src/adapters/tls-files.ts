import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { TlsOptions } from "node:tls";
import { failedPrecondition, Fault, type Timers } from "@oaas/foundation";
import type { CertificateExpiry } from "@oaas/rpc";
import type { CrmConfig } from "../config.ts";

/** TLS options that change while the process runs. */
export interface TlsSource {
  readonly options: TlsOptions;
  /** Why no client accepts the certificate in use; undefined if clients can. */
  problem(nowMs: number): string | undefined;
  /** Calls `changed` with new options. Returns the function that stops it. */
  watch(timers: Timers, changed: (options: TlsOptions) => void, failed: (fault: Fault) => void): () => void;
}

const POLL_INTERVAL_MS = 5_000;

/** Loads the configured certificates, and polls their files; undefined when TLS is off. */
export function loadTlsFiles(
  { mtls, certFile, keyFile, clientCaFile }: CrmConfig["security"],
  expiry: CertificateExpiry,
): TlsSource | undefined {
  if (certFile === undefined || keyFile === undefined) return undefined;
  const load = (): TlsOptions => ({
    cert: read(certFile),
    key: read(keyFile),
    ...(clientCaFile === undefined ? {} : { ca: read(clientCaFile) }),
    // Accepted here without a certificate, because health needs none. The port closes connections with an invalid one.
    ...(mtls ? { requestCert: true, rejectUnauthorized: false } : {}),
  });
  const show = ({ cert }: TlsOptions): void => expiry.show({ use: "server" }, String(cert));
  const options = load();
  show(options);
  let current = options;
  const problem = (nowMs: number): string | undefined => {
    const expiredMs = expiryOf(String(current.cert));
    if (expiredMs === undefined || expiredMs > nowMs) return undefined;
    return `the certificate in ${certFile} expired at ${new Date(expiredMs).toISOString()}; replace it`;
  };
  return {
    options,
    problem,
    watch: (timers, changed, failed) => {
      const poll = (): void => {
        try {
          const loaded = load();
          const isChanged = !isDeepStrictEqual(loaded, current);
          current = loaded;
          if (isChanged) {
            changed(loaded);
            show(loaded);
          }
        } catch (thrown) {
          failed(Fault.from(thrown));
        }
        timer = timers.after(POLL_INTERVAL_MS, poll);
      };
      let timer = timers.after(POLL_INTERVAL_MS, poll);
      return () => timer.cancel();
    },
  };
}

/** Undefined for a text that is not a certificate. */
function expiryOf(pem: string): number | undefined {
  try {
    return new X509Certificate(pem).validToDate.getTime();
  } catch {
    return undefined;
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw failedPrecondition(file, `cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
}
