import { openSync } from "node:fs";
import path from "node:path";
import { cancelled, sleep, timestamp } from "@oaas/foundation";
import { makePrivateFolder, preparePrivateFolder, PRIVATE_FILE } from "@oaas/foundation/files";
import { createFdDestination, createObservability } from "@oaas/observability/node";
import { runService, tracingOptions, type ProcessEnvironment } from "@oaas/service-shell";
import { logText } from "@oaas/stack-folder";
import { readLastLogs } from "@oaas/stack-folder/node";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { loadExamples, loadNodeExamples } from "./adapters/examples.ts";
import { readOrCreateKey, writeKubeconfig, writeRecord } from "./adapters/data-folder.ts";
import { createPrompt, onKeys, createPaint, screenTerminal } from "./adapters/terminal.ts";
import type { RunningApp } from "./app.ts";
import { joinRepeatedFlag, renameNodeFlag, resolvePorts } from "./command-line.ts";
import { DEFAULTS, devStackConfig, VERSION, type DevStackConfig } from "./config.ts";
import type { Display } from "./screen/display.ts";
import { createLineDisplay } from "./screen/line-display.ts";
import { createScreenDisplay } from "./screen/screen-display.ts";
import { startFailureText } from "./start-failure.ts";

/** The store of the package manager in the data folder. */
const STORE_FILE = "store.sqlite";
/** How long a shutdown waits for a start in progress to abort. */
const ABORT_TIMEOUT_MS = 10_000;

// npm start spawns this process with an IPC channel. If the parent is killed, the channel closes: shut down then.
if (process.connected) {
  process.on("disconnect", shutDown);
  process.channel?.unref();
}
process.argv = [
  ...process.argv.slice(0, 2),
  ...joinRepeatedFlag(joinRepeatedFlag(renameNodeFlag(process.argv.slice(2)), "--context"), "--images"),
];

await runService({
  service: "oaas-dev-stack",
  version: VERSION,
  config: devStackConfig,
  // SIGHUP: the terminal was closed.
  signals: ["SIGINT", "SIGTERM", "SIGHUP"],
  // Returns before the stack is up, so that a signal during the start shuts it down gracefully.
  start: async (loaded, environment) => {
    const config = resolvePorts(loaded);
    const stop = new AbortController();
    const display = createDisplay(config, environment);
    const starting = startStack(config, environment, display, stop.signal);
    starting.catch((thrown: unknown) => {
      if (stop.signal.aborted) return;
      display.end();
      process.stderr.write(`${startFailureText(thrown)}\n`);
      process.exit(1);
    });
    return {
      close: async () => {
        stop.abort(cancelled());
        display.end();
        const started = starting.catch(() => undefined);
        const app = await Promise.race([started, sleep(environment.ambient.timers, ABORT_TIMEOUT_MS)]);
        await app?.close();
      },
    };
  },
});

type StackEnvironment = ProcessEnvironment<DevStackConfig>;

async function startStack(
  config: DevStackConfig,
  { ambient, env, isTerminal, observability }: StackEnvironment,
  display: Display,
  signal: AbortSignal,
): Promise<RunningApp> {
  const { context, meter } = observability;
  const dataDir = path.resolve(config.dataDir);
  const { contexts, real, node } = config.clusters;
  const isPlain = isTerminal && !config.logs;
  if (contexts.length > 0) {
    const { approveCrds: approveKinds } = await import("./adapters/clusters/context-cluster.ts");
    await approveKinds(contexts, {
      env,
      ambient,
      isConfirmed: config.yes,
      show: (text) => process.stdout.write(`${text}\n`),
      prompt: createPrompt(process.stdin, process.stdout),
    });
  }
  const tightened = preparePrivateFolder(dataDir, STORE_FILE);
  const observe = (service: string, logFile: string) => {
    makePrivateFolder(path.dirname(logFile));
    const destination = logDestination(openSync(logFile, "a", PRIVATE_FILE), config.logs);
    const log = { level: config.log.level, format: "plain", destination, isTerminal: false } as const;
    const tracing = tracingOptions(config.tracing, ambient.ids.uuid());
    return createObservability({ service, version: VERSION, ambient, log, tracing });
  };
  const { log: logger } = observe("oaas-dev-stack", path.join(dataDir, "stack.log"));
  if (tightened !== undefined) logger.info("removed permissions of other users", { ...tightened });
  const store = openSqliteStore({
    ambient,
    file: path.join(dataDir, STORE_FILE),
    onIncident: ({ what, path: file, fault, details }) => logger.warn(`sqlite: ${what}`, { file, fault, ...details }),
  });
  try {
    // Loaded on demand: help and invalid flags respond at once, and --no-cluster starts faster.
    const [{ startApp }, { createPackageManagerStarter }, { StackPackageManager }, stack, etcd] = await Promise.all([
      import("./app.ts"),
      import("./adapters/package-manager.ts"),
      import("./package-manager/stack-package-manager.ts"),
      config.noCluster ? undefined : import("./adapters/clusters/create-clusters.ts"),
      config.etcd.length > 0 ? import("@oaas/storage/etcd") : undefined,
    ]);
    const parts = { config: config.clusters, functions: config.functions, dataDir, logger, env, ambient, observe };
    const clusters = (await stack?.createClusters(parts)) ?? [];
    const connectStore = () =>
      etcd?.openEtcdStore({ ambient, endpoints: config.etcd, keyPrefix: "/oaas/stack/pm/" }) ?? store.connect();
    const packageManager = createPackageManagerStarter({
      server: config.server,
      env,
      dataDir,
      encryptionKey: readOrCreateKey(dataDir),
      ambient,
      connectStore,
      observe,
    });
    const examples = contexts.length > 0 ? () => [] : node ? loadNodeExamples : loadExamples;
    const stackPackageManager = new StackPackageManager({ ambient, fetch, packageManager, examples });
    const app = await startApp(config, VERSION, {
      ambient,
      store,
      logger,
      context,
      clusters,
      packageManager: stackPackageManager,
      progress: display,
      signal,
      metricsText: () => meter.text(),
      process: processUsage,
      writeRecord: (pageUrl, secret) =>
        writeRecord(dataDir, {
          pid: process.pid,
          version: VERSION,
          since: timestamp(ambient.clock.now()),
          pageUrl,
          secret,
        }),
      stop: shutDown,
    });
    const kubectl = isPlain ? ((await stack?.kubectlCommand(real || node)) ?? "kubectl") : "kubectl";
    const { url, consoleUrl, pageUrl, starts } = app;
    const read = {
      state: async () => ({ state: await app.readState(), rssBytes: process.memoryUsage.rss() }),
      explanation: (key: string) => app.explain(key),
    };
    const kubeconfig = contexts.length > 0 ? env["KUBECONFIG"] : writeKubeconfig(await app.readState(), dataDir);
    const defaults = { url: `http://${DEFAULTS.host}:${DEFAULTS.port}`, dataDir: path.resolve(DEFAULTS.dataDir) };
    await display.showUp({ url, consoleUrl, pageUrl, dataDir, defaults, starts, kubectl, kubeconfig }, read);
    return app;
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

/** The live screen on a terminal, else plain lines. */
function createDisplay(config: DevStackConfig, { ambient, env, isTerminal }: StackEnvironment): Display {
  const { clock, timers } = ambient;
  const hasScreen =
    isTerminal && !config.headless && !config.logs && config.output === "text" && env["TERM"] !== "dumb";
  if (!hasScreen)
    return createLineDisplay({ clock, output: config.output, write: (line) => process.stdout.write(`${line}\n`) });
  const logs = (count: number) => {
    const lines = readLastLogs(path.resolve(config.dataDir)).filter(({ isDetail }) => !isDetail);
    return lines.slice(-count).map(logText);
  };
  const screen = createScreenDisplay({
    clock,
    timers,
    terminal: screenTerminal(process.stdout),
    paint: createPaint(env),
    logs,
    quit: () => process.kill(process.pid, "SIGINT"),
  });
  process.stdout.on("resize", () => screen.redraw());
  let restoreTerminal = (): void => undefined;
  return {
    ...screen,
    showUp: async (info, read) => {
      restoreTerminal = onKeys(process.stdin, (key) => screen.press(key));
      await screen.showUp(info, read);
    },
    end: () => {
      restoreTerminal();
      screen.end();
    },
  };
}

function logDestination(fd: number, isPrinted: boolean): ReturnType<typeof createFdDestination> {
  const file = createFdDestination(fd);
  if (!isPrinted) return file;
  const console = createFdDestination(1);
  return {
    write: (line) => {
      file.write(line);
      console.write(line);
    },
  };
}

function processUsage() {
  const { user, system } = process.cpuUsage();
  return {
    pid: process.pid,
    rss_bytes: process.memoryUsage.rss(),
    cpu_ms: Math.round((user + system) / 1000),
    up_ms: Math.round(process.uptime() * 1000),
  };
}

function shutDown(): void {
  process.kill(process.pid, "SIGTERM");
}
