import { timestamp, type Ambient } from "@oaas/foundation";
import type { ContextStore, Logger } from "@oaas/observability";
import type { KeyValueStore } from "@oaas/storage";
import { startHttpServer } from "./adapters/http-server.ts";
import type { ClusterState } from "./clusters/cluster-state.ts";
import type { Progress } from "./clusters/ports.ts";
import type { StackCluster } from "./clusters/stack-cluster.ts";
import type { DevStackConfig } from "./config.ts";
import { renderPage } from "./http/page.ts";
import { routesOf } from "./http/routes.ts";
import { partsOf } from "./parts.ts";
import { countStart, type Starts } from "./starts.ts";

/** What the stack is made of; `main.ts` hands in the real ones. */
export interface AppPorts {
  readonly ambient: Ambient;
  readonly store: KeyValueStore;
  readonly logger: Logger;
  readonly context: ContextStore;
  readonly metricsText: () => Promise<string>;
  readonly openapi: () => string;
  readonly clusters: readonly StackCluster[];
  readonly progress: Progress;
}

export interface RunningApp {
  readonly url: string;
  readonly starts: Starts;
  /** How the clusters are now. */
  look(): Promise<readonly ClusterState[]>;
  /** Stops in the reverse order of the start. Repeatable. */
  close(): Promise<void>;
}

/** How long running requests may take to end when the stack stops. */
const GRACE_MS = 3_000;

/**
 * Starts the local stack: the start is counted in the store, the routes are served, then clusters come up one after the other. The page
 * is there first, so that a taken port is known at once and a long start can be looked at.
 */
export async function startApp(config: DevStackConfig, version: string, ports: AppPorts): Promise<RunningApp> {
  const { store, ambient, logger, clusters } = ports;
  const starts = await countStart(store, ambient.clock);
  const look = (): Promise<ClusterState[]> => Promise.all(clusters.map((cluster) => cluster.look()));
  const routes = routesOf({
    version,
    metrics: ports.metricsText,
    openapi: ports.openapi,
    storeRevision: () => store.revision(),
    clusters: look,
    now: () => timestamp(ambient.clock.now()),
    page: async () => renderPage({ version, parts: partsOf(await look()), starts, revision: await store.revision() }),
  });
  const server = await startHttpServer({ ...config.server, routes, logger, context: ports.context, ids: ambient.ids });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      await Promise.all(clusters.map((cluster) => cluster.close()));
      await server.close(GRACE_MS);
      await store.close();
    })());
  try {
    for (const cluster of clusters) await cluster.start(ports.progress);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return { url: server.url, starts, look, close };
}
