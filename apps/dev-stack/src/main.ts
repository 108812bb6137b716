import { readFileSync } from "node:fs";
import path from "node:path";
import { configHelp, configReport, configReportText, loadConfig, readCommandLine } from "@oaas/config";
import openapi from "@oaas/contracts/openapi.json" with { type: "json" };
import { Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { createObservability, type Observability } from "@oaas/observability/node";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { startApp, type RunningApp } from "./app.ts";
import { devStackConfig } from "./config.ts";
import { PARTS } from "./parts.ts";
import { readyScreen } from "./screen.ts";
import { VERSION } from "./version.ts";

const commandLine = readCommandLine(process.argv.slice(2));
const sources = { env: process.env, args: commandLine.args, readFile: (file: string) => readFileSync(file, "utf8") };

try {
  if (commandLine.mode === "help") process.stdout.write(configHelp(devStackConfig));
  else if (commandLine.mode === "print-config")
    process.stdout.write(configReportText(configReport(devStackConfig, sources)));
  else await run();
} catch (thrown) {
  const fault = Fault.from(thrown);
  const shown =
    fault.kind === "internal" && fault.cause instanceof Error ? (fault.cause.stack ?? fault.message) : fault.message;
  process.stderr.write(`${shown}\n`);
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const config = loadConfig(devStackConfig, sources);
  const isTerminal = process.stdout.isTTY;
  const observability = await createObservability({
    service: "oaas-dev-stack",
    version: VERSION,
    ambient: realAmbient,
    log: { ...config.log, isTerminal, colors: !process.env["NO_COLOR"] },
    metrics: { processMetrics: true },
    tracing: present(config.tracing),
  });
  const dataDir = path.resolve(config.dataDir);
  const store = openSqliteStore({ ambient: realAmbient, file: path.join(dataDir, "store.sqlite") });
  const app = await startApp(config, VERSION, {
    ambient: realAmbient,
    store,
    logger: observability.log,
    context: observability.context,
    metricsText: () => observability.meter.text(),
    openapi: () => JSON.stringify(openapi),
  }).catch(async (thrown: unknown) => {
    await store.close();
    throw thrown;
  });
  if (isTerminal) process.stdout.write(readyScreen({ url: app.url, dataDir, starts: app.starts, parts: PARTS }));
  stopOnSignal(app, observability);
}

/** The first signal stops in order; a second one does not wait. */
function stopOnSignal(app: RunningApp, observability: Observability): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(130);
    stopping = true;
    void app
      .close()
      .then(() => observability.close())
      .then(() => process.exit(0));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
}

function present<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
