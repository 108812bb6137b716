import type { Timers } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { listenOnePort, type OnePort, type OnePortOptions } from "@oaas/rpc";
import { crossSiteRules, listenHost, type CrmConfig } from "../config.ts";
import { HEALTH_PATHS } from "./http-endpoints.ts";
import type { TlsSource } from "./tls-files.ts";

/** The open ports. */
export interface Listeners {
  readonly host: string;
  readonly port: number;
  readonly grpcPort: number | undefined;
  /** Stops accepting calls; running ones may complete within the grace period. */
  close(): Promise<void>;
}

/**
 * Opens the main port, and a second one if GRPC_PORT is different. Changed certificates are used for new connections.
 */
export async function openListeners(
  config: CrmConfig,
  handlers: Pick<OnePortOptions, "rpc" | "http">,
  { timers, logger, tls }: { readonly timers: Timers; readonly logger: Logger; readonly tls: TlsSource | undefined },
): Promise<Listeners> {
  const { server, limits } = config;
  const listen = (port: number): Promise<OnePort> =>
    listenOnePort({
      ...handlers,
      host: listenHost(config),
      port,
      timers,
      limits: { connections: limits.connections, connectionsPerAddress: limits.connectionsPerAddress },
      openPaths: HEALTH_PATHS,
      crossSite: crossSiteRules(config),
      ...(tls ? { tls: tls.options } : {}),
    });
  const main = await listen(server.httpPort);
  const { grpcPort } = server;
  const isSame = grpcPort === undefined || grpcPort === main.port;
  const second = isSame
    ? undefined
    : await listen(grpcPort).catch(async (thrown: unknown) => closeAndThrow(main, thrown));
  const ports = [main, ...(second ? [second] : [])];
  const unwatch = tls?.watch(
    timers,
    (options) => {
      for (const port of ports) port.setTls(options);
      logger.info("certificates reloaded");
    },
    (fault) => logger.warn("reload certificates failed", { fault }),
  );
  return {
    host: main.host,
    port: main.port,
    grpcPort: second?.port,
    close: async () => {
      unwatch?.();
      await Promise.all(ports.map((port) => port.close(server.graceMs)));
    },
  };
}

/** Closes the first port if the second cannot be opened. */
async function closeAndThrow(port: OnePort, thrown: unknown): Promise<never> {
  await port.close(0);
  throw thrown;
}
