import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { TlsOptions } from "node:tls";
import { Fault, invalidArgument, type Timers, type Violation } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import type { CertificateExpiry } from "@oaas/rpc";

/** The TLS of a listener, from files that may be replaced while the process runs. */
export interface ServerTls {
  readonly options: TlsOptions;
  /** Why the files as they are now are not in use; undefined if they are. */
  problem(): string | undefined;
  /** Applies replaced files to new connections. Invalid ones are logged and not applied. Returns the function to stop. */
  follow(apply: (options: TlsOptions) => void): () => void;
}

export interface ServerTlsFiles {
  /** The prefix of the settings that name the files. */
  readonly prefix: string;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly clientCaFile?: string | undefined;
}

export interface ServerTlsOptions {
  readonly timers: Timers;
  readonly logger: Logger;
  readonly expiry: CertificateExpiry;
  /** The clients, where there are several listeners. */
  readonly peer?: string;
  /** Options with which every client is rejected, until the files are valid. By default invalid files stop the start. */
  readonly untilValid?: () => TlsOptions;
}

interface TlsFile {
  readonly setting: string;
  readonly file: string;
}

const CHECK_INTERVAL_MS = 2_000;

/** Loads the certificates that the configuration names; undefined without any. Throws all violations of the files. */
export function openServerTls(
  { prefix, certFile, keyFile, clientCaFile }: ServerTlsFiles,
  { timers, logger, expiry, peer = "", untilValid }: ServerTlsOptions,
): ServerTls | undefined {
  if (certFile === undefined || keyFile === undefined) return undefined;
  const cert = { setting: `${prefix}_CERT_FILE`, file: certFile };
  const key = { setting: `${prefix}_KEY_FILE`, file: keyFile };
  const ca = clientCaFile === undefined ? undefined : { setting: `${prefix}_CLIENT_CA_FILE`, file: clientCaFile };
  let problem: string | undefined;
  const load = (): TlsOptions => {
    const options = loadTls(cert, key, ca);
    expiry.show({ use: "server", peer }, String(options.cert));
    problem = undefined;
    return options;
  };
  const fail = (thrown: unknown): void => {
    const fault = Fault.from(thrown);
    problem = fault.message;
    logger.warn("reload TLS certificates failed", { fault });
  };
  const loadFirst = (): TlsOptions => {
    if (untilValid === undefined) return load();
    try {
      return load();
    } catch (thrown) {
      fail(thrown);
      return untilValid();
    }
  };
  const files = [certFile, keyFile, clientCaFile ?? []].flat();
  const digest = (): string => files.map(contentDigest).join();
  const initial = { digest: digest(), options: loadFirst() };
  return {
    options: initial.options,
    problem: () => problem,
    follow: (apply) => {
      let applied = initial.digest;
      const check = (): void => {
        try {
          const current = digest();
          if (current !== applied) {
            applied = current;
            apply(load());
            logger.info("reloaded TLS certificates");
          }
        } catch (thrown) {
          fail(thrown);
        }
        timer = timers.after(CHECK_INTERVAL_MS, check);
      };
      let timer = timers.after(CHECK_INTERVAL_MS, check);
      return () => timer.cancel();
    },
  };
}

/** The digest of the contents; "unreadable" for a file that cannot be read, which `load` then reports. */
function contentDigest(file: string): string {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return "unreadable";
  }
}

function loadTls(certFile: TlsFile, keyFile: TlsFile, caFile: TlsFile | undefined): TlsOptions {
  const violations: Violation[] = [];
  const read = <T>({ setting, file }: TlsFile, parse: (text: string) => T, kind: string): [string, T] | undefined => {
    const path = `$.${setting}`;
    let text: string;
    try {
      text = readFileSync(file, "utf8");
    } catch (thrown) {
      const why = (thrown as NodeJS.ErrnoException).code ?? "read failed";
      violations.push({ path, message: `${file} cannot be read: ${why}`, fix: "name a readable file" });
      return undefined;
    }
    try {
      return [text, parse(text)];
    } catch {
      violations.push({ path, message: `${file} does not contain a ${kind}`, fix: `name a PEM file with a ${kind}` });
      return undefined;
    }
  };
  const certificate = read(certFile, (text) => new X509Certificate(text), "certificate");
  const key = read(keyFile, (text) => createPrivateKey(text), "private key");
  const ca = caFile && read(caFile, (text) => new X509Certificate(text), "certificate");
  if (certificate && key && !certificate[1].checkPrivateKey(key[1])) {
    const message = `${keyFile.file} does not match the certificate in ${certFile.file}`;
    violations.push({ path: `$.${keyFile.setting}`, message, fix: "name the private key of that certificate" });
  }
  if (violations.length > 0 || !certificate || !key) throw invalidArgument("the TLS configuration", violations);
  return {
    cert: certificate[0],
    key: key[0],
    ...(ca ? { ca: ca[0], requestCert: true, rejectUnauthorized: true } : {}),
  };
}
