import { mkdirSync, openSync } from "node:fs";
import path from "node:path";
import { cancelled, sleep, timestamp } from "@oaas/foundation";
import { createFdDestination, createObservability } from "@oaas/observability/node";
import { runService, type ProcessEnvironment } from "@oaas/service-shell";
import { logText } from "@oaas/stack-folder";
import { lastLogs } from "@oaas/stack-folder/node";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { startExamples } from "./adapters/examples.ts";
import { joinKubeconfigs } from "./adapters/join-kubeconfigs.ts";
import { leaveWord } from "./adapters/state-file.ts";
import { asker, onKeys, paintFor, screenTerminal } from "./adapters/terminal.ts";
import type { RunningApp } from "./app.ts";
import { withChosenPorts } from "./choose-ports.ts";
import { devStackConfig, type DevStackConfig, USUAL } from "./config.ts";
import { joinRepeated } from "./join-repeated.ts";
import type { Face } from "./screen/face.ts";
import { linesFace } from "./screen/lines-face.ts";
import { screenFace } from "./screen/screen-face.ts";
import { startFailure } from "./start-failure.ts";
import { VERSION } from "./version.ts";

/** How long a stop waits for a start that is under way to notice. */
const NOTICE_MS = 10_000;

// Whoever started us through a channel (npm start does) may be killed; then nobody is left to stop us.
if (process.connected) {
  process.on("disconnect", stopInOrder);
  process.channel?.unref();
}
process.argv = [...process.argv.slice(0, 2), ...joinRepeated(process.argv.slice(2), "--context")];

await runService({
  service: "oaas-dev-stack",
  version: VERSION,
  config: devStackConfig,
  // Also when its terminal is closed: it belongs to the person in front of it.
  signals: ["SIGINT", "SIGTERM", "SIGHUP"],
  // Answers before the stack is up, so that a signal during the start stops it in order too.
  start: async (given, world) => {
    const config = withChosenPorts(given);
    const stop = new AbortController();
    const face = faceOf(config, world);
    const starting = startStack(config, world, face, stop.signal);
    starting.catch((thrown: unknown) => {
      if (stop.signal.aborted) return;
      face.end();
      process.stderr.write(`${startFailure(thrown)}\n`);
      process.exit(1);
    });
    return {
      close: async () => {
        stop.abort(cancelled());
        face.end();
        const started = starting.catch(() => undefined);
        const app = await Promise.race([started, sleep(world.ambient.timers, NOTICE_MS)]);
        await app?.close();
      },
    };
  },
});

type StackWorld = ProcessEnvironment<DevStackConfig>;

async function startStack(
  config: DevStackConfig,
  { ambient, env, isTerminal, observability }: StackWorld,
  face: Face,
  signal: AbortSignal,
): Promise<RunningApp> {
  const { context, meter } = observability;
  const dataDir = path.resolve(config.dataDir);
  const { contexts, real } = config.clusters;
  const isPlain = isTerminal && !config.logs;
  if (contexts.length > 0) {
    const { approveKinds } = await import("./adapters/context-cluster.ts");
    await approveKinds(contexts, {
      env,
      ambient,
      isSaid: config.yes,
      show: (text) => process.stdout.write(`${text}\n`),
      ask: asker(process.stdin, process.stdout),
    });
  }
  mkdirSync(dataDir, { recursive: true });
  const store = openSqliteStore({ ambient, file: path.join(dataDir, "store.sqlite") });
  const observe = (service: string, logFile: string) => {
    mkdirSync(path.dirname(logFile), { recursive: true });
    const destination = logDestination(openSync(logFile, "a"), config.logs);
    const log = { level: config.log.level, format: "plain", destination, isTerminal: false } as const;
    return createObservability({ service, version: VERSION, clock: ambient.clock, log });
  };
  try {
    const { log: logger } = observe("oaas-dev-stack", path.join(dataDir, "stack.log"));
    // Loaded on demand: help and a wrong flag are told at once, and without clusters the stack is there at once.
    const [{ startApp }, { packageManagerOf }, { StackPlatform }, stack, etcd] = await Promise.all([
      import("./app.ts"),
      import("./adapters/package-manager.ts"),
      import("./platform/stack-platform.ts"),
      config.noCluster ? undefined : import("./adapters/stack-clusters.ts"),
      config.etcd.length > 0 ? import("@oaas/storage/etcd") : undefined,
    ]);
    const parts = { config: config.clusters, dataDir, logger, env, ambient, observe };
    const clusters = (await stack?.stackClusters(parts)) ?? [];
    const connectStore = () =>
      etcd?.openEtcdStore({ ambient, endpoints: config.etcd, keyPrefix: "/oaas/stack/pm/" }) ?? store.connect();
    const packageManager = packageManagerOf({ server: config.server, env, dataDir, ambient, connectStore, observe });
    const examples = contexts.length > 0 ? () => [] : startExamples;
    const platform = new StackPlatform({ ambient, fetch, packageManager, examples });
    const app = await startApp(config, VERSION, {
      ambient,
      store,
      logger,
      context,
      clusters,
      platform,
      progress: face,
      signal,
      metricsText: () => meter.text(),
      process: figures,
      leaveWord: (pageUrl, secret) =>
        leaveWord(dataDir, {
          pid: process.pid,
          version: VERSION,
          since: timestamp(ambient.clock.now()),
          pageUrl,
          secret,
        }),
      stop: stopInOrder,
    });
    const kubectl = isPlain ? ((await stack?.kubectlCommand(real)) ?? "kubectl") : "kubectl";
    const { url, pageUrl, starts } = app;
    const look = async () => ({ state: await app.look(), rssBytes: process.memoryUsage.rss() });
    const kubeconfig = contexts.length > 0 ? env["KUBECONFIG"] : joinKubeconfigs(await app.look(), dataDir);
    const usual = { url: `http://${USUAL.host}:${USUAL.port}`, dataDir: path.resolve(USUAL.dataDir) };
    await face.up({ url, pageUrl, dataDir, usual, starts, kubectl, kubeconfig }, look);
    return app;
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

/** The screen where a person looks at one; plain lines otherwise. */
function faceOf(config: DevStackConfig, { ambient, env, isTerminal }: StackWorld): Face {
  const { clock, timers } = ambient;
  const hasScreen =
    isTerminal && !config.headless && !config.logs && config.output === "text" && env["TERM"] !== "dumb";
  if (!hasScreen)
    return linesFace({ clock, output: config.output, write: (line) => process.stdout.write(`${line}\n`) });
  const logs = (count: number) => {
    const lines = lastLogs(path.resolve(config.dataDir)).filter(({ isDetail }) => !isDetail);
    return lines.slice(-count).map(logText);
  };
  const screen = screenFace({ clock, timers, terminal: screenTerminal(process.stdout), paint: paintFor(env), logs });
  process.stdout.on("resize", () => screen.redraw());
  let giveBack = (): void => undefined;
  return {
    ...screen,
    up: async (fixed, look) => {
      giveBack = onKeys(process.stdin, (key) => {
        if (key === "l") screen.toggleLogs();
        // With single keys Ctrl-C is one of them.
        else if (key === "q" || key === "\u0003") process.kill(process.pid, "SIGINT");
      });
      await screen.up(fixed, look);
    },
    end: () => {
      giveBack();
      screen.end();
    },
  };
}

function logDestination(fd: number, isShown: boolean): ReturnType<typeof createFdDestination> {
  const file = createFdDestination(fd);
  if (!isShown) return file;
  const shown = createFdDestination(1);
  return {
    write: (line) => {
      file.write(line);
      shown.write(line);
    },
  };
}

function figures() {
  const { user, system } = process.cpuUsage();
  return {
    pid: process.pid,
    rss_bytes: process.memoryUsage.rss(),
    cpu_ms: Math.round((user + system) / 1000),
    up_ms: Math.round(process.uptime() * 1000),
  };
}

function stopInOrder(): void {
  process.kill(process.pid, "SIGTERM");
}
