import { timestamp, type Ambient } from "@oaas/foundation";
import type { ContextStore, Logger } from "@oaas/observability";
import type { KeyValueStore } from "@oaas/storage";
import { startHttpServer } from "./adapters/http-server.ts";
import type { DevStackConfig } from "./config.ts";
import { renderPage } from "./http/page.ts";
import { routesOf } from "./http/routes.ts";
import { PARTS } from "./parts.ts";
import { countStart, type Starts } from "./starts.ts";

/** What the stack is made of; `main.ts` hands in the real ones. */
export interface AppPorts {
  readonly ambient: Ambient;
  readonly store: KeyValueStore;
  readonly logger: Logger;
  readonly context: ContextStore;
  readonly metricsText: () => Promise<string>;
  readonly openapi: () => string;
}

export interface RunningApp {
  readonly url: string;
  readonly starts: Starts;
  /** Stops in the reverse order of the start. Repeatable. */
  close(): Promise<void>;
}

/** How long running requests may take to end when the stack stops. */
const GRACE_MS = 3_000;

/** Starts the local stack: the start is counted in the store, then the routes are served. */
export async function startApp(config: DevStackConfig, version: string, ports: AppPorts): Promise<RunningApp> {
  const { store, ambient, logger } = ports;
  const starts = await countStart(store, ambient.clock);
  const routes = routesOf({
    version,
    metrics: ports.metricsText,
    openapi: ports.openapi,
    storeRevision: () => store.revision(),
    now: () => timestamp(ambient.clock.now()),
    page: async () => renderPage({ version, parts: PARTS, starts, revision: await store.revision() }),
  });
  const server = await startHttpServer({ ...config.server, routes, logger, context: ports.context, ids: ambient.ids });
  logger.info("the local stack is up", { url: server.url, start: starts.count });
  return {
    url: server.url,
    starts,
    close: async () => {
      await server.close(GRACE_MS);
      await store.close();
    },
  };
}
