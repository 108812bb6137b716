import { abortFault, timestamp, type Ambient } from "@oaas/foundation";
import type { ContextStore, Logger } from "@oaas/observability";
import type { KeyValueStore } from "@oaas/storage";
import { startHttpServer, type HttpServer } from "./adapters/http-server.ts";
import type { Progress } from "./clusters/progress.ts";
import { splitProgress } from "./clusters/progress.ts";
import type { StackCluster } from "./clusters/stack-cluster.ts";
import type { DevStackConfig } from "./config.ts";
import { renderPage } from "./http/page.ts";
import { createRoutes, type ProcessUsage } from "./http/routes.ts";
import { parseFault } from "./lab/fault.ts";
import { createConsoleLab } from "./lab/console-lab.ts";
import { FaultInjector } from "./lab/fault-injector.ts";
import type { StackState } from "./components.ts";
import type { DeploymentExplanation } from "./package-manager/ports.ts";
import type { StackPackageManager } from "./package-manager/stack-package-manager.ts";
import { countStart, type Starts } from "./start-counter.ts";

/** Dependencies of the app; `main.ts` creates them. */
export interface AppPorts {
  readonly ambient: Ambient;
  readonly store: KeyValueStore;
  readonly logger: Logger;
  readonly context: ContextStore;
  readonly metricsText: () => Promise<string>;
  readonly process: () => ProcessUsage;
  readonly clusters: readonly StackCluster[];
  readonly packageManager: StackPackageManager;
  readonly progress: Progress;
  /** Aborts a start in progress. */
  readonly signal: AbortSignal;
  /** Records the page URL and the control secret in the data folder; returns a function that removes the record. */
  readonly writeRecord: (pageUrl: string, secret: string) => () => void;
  /** Starts a graceful shutdown of the process. */
  readonly stop: () => void;
}

export interface RunningApp {
  /** URL of the package manager. */
  readonly url: string;
  /** URL of the console; undefined when it is not built. */
  readonly consoleUrl: string | undefined;
  /** URL of the status page. */
  readonly pageUrl: string;
  readonly starts: Starts;
  /** Reads the state of all components. */
  readState(): Promise<StackState>;
  /** Why a deployment is in its state. */
  explain(key: string): Promise<DeploymentExplanation>;
  /** Stops in the reverse order of the start. Idempotent. */
  close(): Promise<void>;
}

/** Time for running requests to finish during shutdown. */
const GRACE_MS = 3_000;

/**
 * Starts the local stack: counts the start in the store, serves the status page, starts all clusters in parallel, then
 * the package manager. The page comes first to report a port in use early and to show the progress of a long start. The
 * package manager comes last, so that resumed sagas find their clusters.
 */
export async function startApp(config: DevStackConfig, version: string, ports: AppPorts): Promise<RunningApp> {
  const { store, ambient, clusters, packageManager, progress, signal } = ports;
  const starts = await countStart(store, ambient.clock, version);
  if (starts.clockWentBack) {
    progress.note(`The clock is earlier than at the previous start (${starts.previousAt ?? ""}). No data is lost.`);
  }
  const readState = async (): Promise<StackState> => ({
    packageManager: await packageManager.readState(),
    clusters: await Promise.all(clusters.map((cluster) => cluster.readState())),
  });
  const secret = ambient.ids.uuid();
  const page = await servePage(config, version, ports, { readState, starts, secret });
  const removeRecord = ports.writeRecord(page.url, secret);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      await packageManager.close();
      await Promise.all(clusters.map((cluster) => cluster.close()));
      await page.close(GRACE_MS);
      removeRecord();
      await store.close();
    })());
  try {
    await Promise.all([packageManager, ...clusters].map((part) => part.check()));
    const url = await startAll();
    if (signal.aborted) throw abortFault(signal);
    const explain = (key: string): Promise<DeploymentExplanation> => packageManager.explain(key);
    return { url, consoleUrl: packageManager.consoleUrl, pageUrl: page.url, starts, readState, explain, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }

  async function startAll(): Promise<string> {
    const progresses = splitProgress(
      progress,
      clusters.map(({ plan }) => plan.name),
    );
    const started = await Promise.allSettled(
      clusters.map((cluster, index) => cluster.start(progresses[index] ?? progress, signal)),
    );
    for (const one of started) if (one.status === "rejected") throw one.reason;
    const configured = clusters.flatMap(({ plan, managerEndpoint: url }) =>
      url === undefined ? [] : [{ name: plan.name, labels: plan.labels, url, terms: plan.terms }],
    );
    return packageManager.start(configured, progress, signal);
  }
}

interface PageSources {
  readonly readState: () => Promise<StackState>;
  readonly starts: Starts;
  readonly secret: string;
}

function servePage(
  config: DevStackConfig,
  version: string,
  ports: AppPorts,
  { readState, starts, secret }: PageSources,
): Promise<HttpServer> {
  const { store, ambient, clusters, packageManager } = ports;
  const faults = new FaultInjector(clusters, packageManager);
  const names = clusters.map(({ plan }) => plan.name);
  packageManager.offerLab(createConsoleLab(faults, names));
  const parseBody = (body: unknown) => parseFault(body, names);
  const routes = createRoutes({
    version,
    metrics: ports.metricsText,
    process: ports.process,
    storeRevision: () => store.revision(),
    readState: readState,
    now: () => timestamp(ambient.clock.now()),
    page: async () => renderPage({ version, state: await readState(), starts, revision: await store.revision() }),
    control: {
      broken: () => faults.injected,
      break: async (body) => faults.inject(parseBody(body)),
      restore: async (body) => (body === undefined ? faults.removeAll() : faults.remove(parseBody(body))),
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
