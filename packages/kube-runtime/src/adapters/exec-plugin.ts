import { execFile } from "node:child_process";
import { Fault, type Clock } from "@oaas/foundation";
import type { ClusterAccess, ExecPlugin } from "../client/access.ts";
import { textSource } from "./text-source.ts";

/** The response of a credential plug-in. */
export interface ExecCredential {
  readonly token?: string;
  readonly certificate?: string;
  readonly key?: string;
  /** Expiry in epoch milliseconds. */
  readonly expiresAt?: number;
}

/** Renews this long before expiry, so that no request is sent with a credential that expires in flight. */
const EXPIRY_MARGIN_MS = 10_000;
const PLUGIN_TIMEOUT_MS = 60_000;

/** Minimum interval between runs when the server rejects the plug-in's credentials. */
const MIN_RUN_INTERVAL_MS = 5_000;

/** Caches the credential of a plug-in until it expires. */
export interface ExecCredentials {
  get(): Promise<ExecCredential>;
  /** Drops the cached credential; false when the plug-in ran only a moment ago. */
  forget(): boolean;
}

/**
 * Runs a kubeconfig's credential plug-in and caches its response until it expires. Concurrent callers share one run.
 */
export function createExecCredentials(plugin: ExecPlugin, access: ClusterAccess, clock: Clock): ExecCredentials {
  let current: ExecCredential | undefined;
  let running: Promise<ExecCredential> | undefined;
  let startedAt = Number.NEGATIVE_INFINITY;
  const isFresh = (credential: ExecCredential | undefined): credential is ExecCredential =>
    credential !== undefined &&
    (credential.expiresAt === undefined || credential.expiresAt - EXPIRY_MARGIN_MS > clock.now());
  return {
    forget: () => {
      if (clock.monotonic() - startedAt < MIN_RUN_INTERVAL_MS) return false;
      current = undefined;
      return true;
    },
    get: async () => {
      if (isFresh(current)) return current;
      if (!running) {
        startedAt = clock.monotonic();
        running = runPlugin(plugin, access, clock).finally(() => (running = undefined));
      }
      current = await running;
      return current;
    },
  };
}

function runPlugin(plugin: ExecPlugin, access: ClusterAccess, clock: Clock): Promise<ExecCredential> {
  const { server, tls, proxyUrl } = access;
  const ca = tls.ca && Buffer.from(textSource(tls.ca, clock).read()).toString("base64");
  const cluster = {
    server,
    "insecure-skip-tls-verify": tls.insecure,
    ...(tls.serverName === undefined ? {} : { "tls-server-name": tls.serverName }),
    ...(ca === undefined ? {} : { "certificate-authority-data": ca }),
    ...(proxyUrl === undefined ? {} : { "proxy-url": proxyUrl }),
  };
  const info = {
    apiVersion: plugin.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(plugin.provideClusterInfo ? { cluster } : {}) },
  };
  return new Promise((resolve, reject) => {
    execFile(
      plugin.command,
      [...plugin.args],
      {
        env: { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
        timeout: PLUGIN_TIMEOUT_MS,
        maxBuffer: 1 << 20,
      },
      (error, stdout, stderr) => {
        if (error) {
          const hint = plugin.installHint === undefined ? "" : ` ${plugin.installHint}`;
          reject(
            unauthenticated(
              `the credential plug-in "${plugin.command}" failed: ${stderr.trim() || error.message}.${hint}`,
              error,
            ),
          );
          return;
        }
        try {
          resolve(readCredential(stdout));
        } catch (thrown) {
          reject(
            unauthenticated(`the credential plug-in "${plugin.command}" returned no usable ExecCredential`, thrown),
          );
        }
      },
    );
  });
}

interface Answer {
  readonly kind?: string;
  readonly status?: {
    readonly token?: string;
    readonly clientCertificateData?: string;
    readonly clientKeyData?: string;
    readonly expirationTimestamp?: string;
  };
}

function readCredential(stdout: string): ExecCredential {
  const { kind, status } = JSON.parse(stdout) as Answer;
  if (kind !== "ExecCredential" || !status) throw new TypeError("no ExecCredential with a status");
  if (!status.token && !status.clientCertificateData) throw new TypeError("neither a token nor a certificate");
  const expiresAt = status.expirationTimestamp === undefined ? Number.NaN : Date.parse(status.expirationTimestamp);
  return {
    ...(status.token === undefined ? {} : { token: status.token }),
    ...(status.clientCertificateData === undefined ? {} : { certificate: status.clientCertificateData }),
    ...(status.clientKeyData === undefined ? {} : { key: status.clientKeyData }),
    ...(Number.isNaN(expiresAt) ? {} : { expiresAt }),
  };
}

function unauthenticated(message: string, cause: unknown): Fault {
  return new Fault({ kind: "unauthenticated" }, message, { cause });
}
