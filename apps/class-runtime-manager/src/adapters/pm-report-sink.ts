import { readFileSync } from "node:fs";
import { PackageService, METADATA_KEYS } from "@oaas/contracts/grpc";
import { failedPrecondition, type Clock } from "@oaas/foundation";
import { RpcChannel, type ChannelTls } from "@oaas/rpc";
import type { CrmConfig } from "../config.ts";
import type { ReportSink } from "../reporting/reports.ts";

export interface PmSinkOptions {
  readonly config: CrmConfig["pm"] & { readonly url: string };
  readonly clock: Clock;
  /** Asked for each call. */
  readonly token: () => string | undefined;
}

const DEFAULT_PORT = { "http:": "80", "https:": "443" } as const;

/** The package manager over gRPC. After failures the connection is made anew, with the certificates as the files have them then. */
export function pmSink({ config, clock, token }: PmSinkOptions): ReportSink & { close(): void } {
  const url = new URL(config.url);
  const connect = (): RpcChannel => {
    const tls = url.protocol === "https:" ? tlsOf(config) : undefined;
    return new RpcChannel({
      name: "the package manager",
      address: `${url.hostname}:${url.port || DEFAULT_PORT[url.protocol as keyof typeof DEFAULT_PORT]}`,
      clock,
      token,
      deadlineMs: config.timeoutMs,
      ...(tls ? { tls } : {}),
    });
  };
  let channel = connect();
  return {
    status: async (report, correlationId, signal) => {
      const headers = correlationId === undefined ? {} : { [METADATA_KEYS.correlationId]: correlationId };
      await channel.client(PackageService).reportDeploymentStatus(report, { signal, headers });
    },
    metrics: async (report, signal) => {
      await channel.client(PackageService).reportRuntimeMetrics(report, { signal });
    },
    reconnect: () => {
      if (url.protocol !== "https:") return;
      const old = channel;
      try {
        channel = connect();
      } catch {
        // A file is just being replaced: the old ones may still do, and this is asked again.
        return;
      }
      old.close();
    },
    close: () => channel.close(),
  };
}

function tlsOf({ caFile, certFile, keyFile }: CrmConfig["pm"]): ChannelTls {
  const read = (file: string): string => {
    try {
      return readFileSync(file, "utf8");
    } catch (error) {
      throw failedPrecondition(file, `${file} cannot be read: ${(error as Error).message}`, { cause: error });
    }
  };
  return {
    ...(caFile === undefined ? {} : { ca: read(caFile) }),
    ...(certFile === undefined ? {} : { certificate: read(certFile) }),
    ...(keyFile === undefined ? {} : { key: read(keyFile) }),
  };
}
