import { timestamp, type Ambient } from "@oaas/foundation";
import type { ContextStore, Logger } from "@oaas/observability";
import type { KeyValueStore } from "@oaas/storage";
import { startHttpServer } from "./adapters/http-server.ts";
import type { Progress } from "./clusters/ports.ts";
import { sideBySide } from "./clusters/side-by-side.ts";
import type { StackCluster } from "./clusters/stack-cluster.ts";
import type { DevStackConfig } from "./config.ts";
import { renderPage } from "./http/page.ts";
import { routesOf } from "./http/routes.ts";
import type { StackState } from "./parts.ts";
import type { StackPlatform } from "./platform/stack-platform.ts";
import { countStart, type Starts } from "./starts.ts";

/** What the stack is made of; `main.ts` hands in the real ones. */
export interface AppPorts {
  readonly ambient: Ambient;
  readonly store: KeyValueStore;
  readonly logger: Logger;
  readonly context: ContextStore;
  readonly metricsText: () => Promise<string>;
  readonly clusters: readonly StackCluster[];
  readonly platform: StackPlatform;
  readonly progress: Progress;
}

export interface RunningApp {
  /** Of the package manager. */
  readonly url: string;
  /** Of the stack's own page. */
  readonly pageUrl: string;
  readonly starts: Starts;
  /** How everything is now. */
  look(): Promise<StackState>;
  /** Stops in the reverse order of the start. Repeatable. */
  close(): Promise<void>;
}

/** How long running requests may take to end when the stack stops. */
const GRACE_MS = 3_000;

/**
 * Starts the local stack: the start is counted in the store, the stack's page is served, the clusters come up side by side, then the package
 * manager over them. The page is there first and the package manager's port is tried, so that a taken port is known at once and a long
 * start can be looked at; the package manager comes last, so that what it was doing when it ended finds the clusters there.
 */
export async function startApp(config: DevStackConfig, version: string, ports: AppPorts): Promise<RunningApp> {
  const { store, ambient, logger, clusters, platform, progress } = ports;
  const starts = await countStart(store, ambient.clock);
  const look = async (): Promise<StackState> => ({
    packageManager: await platform.look(),
    clusters: await Promise.all(clusters.map((cluster) => cluster.look())),
  });
  const routes = routesOf({
    version,
    metrics: ports.metricsText,
    storeRevision: () => store.revision(),
    look,
    now: () => timestamp(ambient.clock.now()),
    page: async () => renderPage({ version, state: await look(), starts, revision: await store.revision() }),
  });
  const { host } = config.server;
  const page = await startHttpServer({
    host,
    port: config.pagePort,
    routes,
    logger,
    context: ports.context,
    ids: ambient.ids,
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      await platform.close();
      await Promise.all(clusters.map((cluster) => cluster.close()));
      await page.close(GRACE_MS);
      await store.close();
    })());
  try {
    await Promise.all([platform, ...clusters].map((part) => part.check()));
    const url = await startAll();
    return { url, pageUrl: page.url, starts, look, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }

  async function startAll(): Promise<string> {
    const each = sideBySide(
      progress,
      clusters.map(({ plan }) => plan.name),
    );
    const begun = await Promise.allSettled(clusters.map((cluster, index) => cluster.start(each[index] ?? progress)));
    for (const one of begun) if (one.status === "rejected") throw one.reason;
    const known = clusters.flatMap(({ plan, managerUrl }) =>
      managerUrl === undefined ? [] : [{ name: plan.name, labels: plan.labels, url: managerUrl }],
    );
    return platform.start(known, progress);
  }
}
