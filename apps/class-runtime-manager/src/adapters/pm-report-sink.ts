import { readFileSync } from "node:fs";
import { PackageService, METADATA_KEYS } from "@oaas/contracts/grpc";
import { failedPrecondition, type Clock } from "@oaas/foundation";
import { RpcChannel, type CertificateExpiry, type ChannelTls, type RpcClient } from "@oaas/rpc";
import type { CrmConfig } from "../config.ts";
import type { ReportSink } from "../reporting/reports.ts";

export interface PmReportSinkOptions {
  readonly config: CrmConfig["pm"] & { readonly url: string };
  readonly clock: Clock;
  /** Read for each call. */
  readonly token: () => string | undefined;
  /** The certificates, instead of those in files; read for each connection. Throws unavailable while there are none. */
  readonly certificates?: (() => ChannelTls) | undefined;
  readonly expiry: CertificateExpiry;
}

const DEFAULT_PORT = { "http:": "80", "https:": "443" } as const;

/**
 * Sends reports to the package manager over gRPC. A reconnect loads the certificates again. Throws if they are in files that
 * cannot be read.
 */
export function createPmReportSink(options: PmReportSinkOptions): ReportSink & { close(): void } {
  const { config, clock, token, certificates, expiry } = options;
  const url = new URL(config.url);
  const connect = (): RpcChannel => {
    const tls = url.protocol === "https:" ? (certificates?.() ?? tlsOf(config)) : undefined;
    if (tls?.certificate !== undefined) expiry.show({ use: "client", peer: "package-manager" }, tls.certificate);
    return new RpcChannel({
      name: "the package manager",
      address: `${url.hostname}:${url.port || DEFAULT_PORT[url.protocol as keyof typeof DEFAULT_PORT]}`,
      clock,
      token,
      deadlineMs: config.timeoutMs,
      ...(tls ? { tls } : {}),
    });
  };
  // Certificates of the manager are created after it started.
  let channel = certificates === undefined ? connect() : undefined;
  const client = (): RpcClient<typeof PackageService> => (channel ??= connect()).client(PackageService);
  return {
    status: async (report, correlationId, signal) => {
      const headers = correlationId === undefined ? {} : { [METADATA_KEYS.correlationId]: correlationId };
      await client().reportDeploymentStatus(report, { signal, headers });
    },
    metrics: async (report, signal) => {
      await client().reportRuntimeMetrics(report, { signal });
    },
    reconnect: () => {
      if (url.protocol !== "https:" || channel === undefined) return;
      const old = channel;
      try {
        channel = connect();
      } catch {
        // A file is being replaced: keep the old connection until the next reconnect.
        return;
      }
      old.close();
    },
    close: () => channel?.close(),
  };
}

function tlsOf({ caFile, certFile, keyFile }: CrmConfig["pm"]): ChannelTls {
  const read = (file: string): string => {
    try {
      return readFileSync(file, "utf8");
    } catch (error) {
      throw failedPrecondition(file, `cannot read ${file}: ${(error as Error).message}`, { cause: error });
    }
  };
  return {
    ...(caFile === undefined ? {} : { ca: read(caFile) }),
    ...(certFile === undefined ? {} : { certificate: read(certFile) }),
    ...(keyFile === undefined ? {} : { key: read(keyFile) }),
  };
}
