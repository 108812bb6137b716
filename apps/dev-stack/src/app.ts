import { abortFault, timestamp, type Ambient } from "@oaas/foundation";
import type { ContextStore, Logger } from "@oaas/observability";
import type { KeyValueStore } from "@oaas/storage";
import { startHttpServer, type HttpServer } from "./adapters/http-server.ts";
import type { Progress } from "./clusters/ports.ts";
import { sideBySide } from "./clusters/side-by-side.ts";
import type { StackCluster } from "./clusters/stack-cluster.ts";
import type { DevStackConfig } from "./config.ts";
import { renderPage } from "./http/page.ts";
import { routesOf, type ProcessFigures } from "./http/routes.ts";
import { parseFault } from "./lab/fault.ts";
import { Levers } from "./lab/levers.ts";
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
  readonly process: () => ProcessFigures;
  readonly clusters: readonly StackCluster[];
  readonly platform: StackPlatform;
  readonly progress: Progress;
  /** Ends a start that is under way. */
  readonly signal: AbortSignal;
  /** Leaves word of where the page is, with the secret of whoever may stop the stack; answers how to take it back. */
  readonly leaveWord: (pageUrl: string, secret: string) => () => void;
  /** Begins the orderly stop of the whole process. */
  readonly stop: () => void;
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
  const { store, ambient, clusters, platform, progress, signal } = ports;
  const starts = await countStart(store, ambient.clock, version);
  if (starts.clockWentBack) {
    progress.note(`The clock says it is earlier than at the last start (${starts.previousAt ?? ""}). Nothing is lost.`);
  }
  const look = async (): Promise<StackState> => ({
    packageManager: await platform.look(),
    clusters: await Promise.all(clusters.map((cluster) => cluster.look())),
  });
  const secret = ambient.ids.uuid();
  const page = await servePage(config, version, ports, { look, starts, secret });
  const takeBackWord = ports.leaveWord(page.url, secret);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      await platform.close();
      await Promise.all(clusters.map((cluster) => cluster.close()));
      await page.close(GRACE_MS);
      takeBackWord();
      await store.close();
    })());
  try {
    await Promise.all([platform, ...clusters].map((part) => part.check()));
    const url = await startAll();
    if (signal.aborted) throw abortFault(signal);
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
    const begun = await Promise.allSettled(
      clusters.map((cluster, index) => cluster.start(each[index] ?? progress, signal)),
    );
    for (const one of begun) if (one.status === "rejected") throw one.reason;
    const known = clusters.flatMap(({ plan, wayIn }) =>
      wayIn === undefined ? [] : [{ name: plan.name, labels: plan.labels, url: wayIn }],
    );
    return platform.start(known, progress, signal);
  }
}

interface PageParts {
  readonly look: () => Promise<StackState>;
  readonly starts: Starts;
  readonly secret: string;
}

function servePage(
  config: DevStackConfig,
  version: string,
  ports: AppPorts,
  { look, starts, secret }: PageParts,
): Promise<HttpServer> {
  const { store, ambient, clusters, platform } = ports;
  const levers = new Levers(clusters, platform);
  const faultOf = (body: unknown) =>
    parseFault(
      body,
      clusters.map(({ plan }) => plan.name),
    );
  const routes = routesOf({
    version,
    metrics: ports.metricsText,
    process: ports.process,
    storeRevision: () => store.revision(),
    look,
    now: () => timestamp(ambient.clock.now()),
    page: async () => renderPage({ version, state: await look(), starts, revision: await store.revision() }),
    control: {
      broken: () => levers.broken,
      break: async (body) => levers.break(faultOf(body)),
      mend: async (body) => (body === undefined ? levers.mendAll() : levers.mend(faultOf(body))),
      stop: ports.stop,
    },
  });
  return startHttpServer({
    host: config.server.host,
    port: config.pagePort,
    routes,
    secret,
    logger: ports.logger,
    context: ports.context,
    ids: ambient.ids,
  });
}
