import type { Timers } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { listenOnePort, type OnePort, type OnePortOptions } from "@oaas/rpc";
import type { CrmConfig } from "../config.ts";
import { HEALTH_PATHS } from "./http-endpoints.ts";
import { tlsFiles } from "./tls-files.ts";

/** The ports on which calls are answered. */
export interface Doors {
  readonly port: number;
  readonly grpcPort: number | undefined;
  /** No new calls; those that run end, within the time of grace. */
  close(): Promise<void>;
}

/** Opens the port of everything, and the one for gRPC alone where that is another. Certificates are followed in their files. */
export async function openDoors(
  { server, security }: CrmConfig,
  answering: Pick<OnePortOptions, "rpc" | "http">,
  { timers, logger }: { readonly timers: Timers; readonly logger: Logger },
): Promise<Doors> {
  const tls = tlsFiles(security);
  const listen = (port: number): Promise<OnePort> =>
    listenOnePort({
      ...answering,
      host: server.host,
      port,
      timers,
      openPaths: HEALTH_PATHS,
      webOrigins: server.webOrigins,
      ...(tls ? { tls: tls.options } : {}),
    });
  const main = await listen(server.httpPort);
  const { grpcPort } = server;
  const isSame = grpcPort === undefined || grpcPort === main.port;
  const second = isSame ? undefined : await listen(grpcPort).catch(async (thrown: unknown) => closed(main, thrown));
  const doors = [main, ...(second ? [second] : [])];
  const unfollow = tls?.follow(
    timers,
    (options) => {
      for (const door of doors) door.setTls(options);
      logger.info("certificates were reloaded");
    },
    (fault) => logger.warn("certificates could not be reloaded", { fault }),
  );
  return {
    port: main.port,
    grpcPort: second?.port,
    close: async () => {
      unfollow?.();
      await Promise.all(doors.map((door) => door.close(server.graceMs)));
    },
  };
}

/** One door without the other is none. */
async function closed(door: OnePort, thrown: unknown): Promise<never> {
  await door.close(0);
  throw thrown;
}
