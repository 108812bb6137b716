import { execFile } from "node:child_process";
import { Fault, type Clock } from "@oaas/foundation";
import type { ClusterAccess, ExecPlugin } from "../client/access.ts";
import { textSource } from "./file-source.ts";

/** What a credential plugin answered. */
export interface ExecCredential {
  readonly token?: string;
  readonly certificate?: string;
  readonly key?: string;
  /** Epoch milliseconds after which it must be asked again. */
  readonly expiresAt?: number;
}

/** Asks again this long before the credential ends, so that no request is sent with one that ends on the way. */
const EXPIRY_MARGIN_MS = 10_000;
const PLUGIN_TIMEOUT_MS = 60_000;

/** A server that refuses whatever the plugin answers must not make it run for every request. */
const ASK_AGAIN_MS = 5_000;

/** The credential of a plugin, kept until it ends. */
export interface ExecCredentials {
  get(): Promise<ExecCredential>;
  /** Drops what is kept; false when it was asked for only just now. */
  forget(): boolean;
}

/** Runs a kubeconfig's credential plugin, keeps its answer until it ends, and runs it once for all who wait. */
export function createExecCredentials(plugin: ExecPlugin, access: ClusterAccess, clock: Clock): ExecCredentials {
  let current: ExecCredential | undefined;
  let asking: Promise<ExecCredential> | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  const isFresh = (credential: ExecCredential | undefined): credential is ExecCredential =>
    credential !== undefined &&
    (credential.expiresAt === undefined || credential.expiresAt - EXPIRY_MARGIN_MS > clock.now());
  return {
    forget: () => {
      if (clock.monotonic() - askedAt < ASK_AGAIN_MS) return false;
      current = undefined;
      return true;
    },
    get: async () => {
      if (isFresh(current)) return current;
      if (!asking) {
        askedAt = clock.monotonic();
        asking = runPlugin(plugin, access, clock).finally(() => (asking = undefined));
      }
      current = await asking;
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
              `the credential plugin "${plugin.command}" failed: ${stderr.trim() || error.message}.${hint}`,
              error,
            ),
          );
          return;
        }
        try {
          resolve(readCredential(stdout));
        } catch (thrown) {
          reject(
            unauthenticated(`the credential plugin "${plugin.command}" answered no usable ExecCredential`, thrown),
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
