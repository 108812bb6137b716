import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { configHelp, configReport, configReportText, loadConfig, readCommandLine } from "@oaas/config";
import { Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { createObservability, type Observability } from "@oaas/observability/node";
import { startApp, type RunningApp } from "./app.ts";
import { crmConfig } from "./config.ts";
import { VERSION } from "./version.ts";

const commandLine = readCommandLine(process.argv.slice(2));
const sources = { env: process.env, args: commandLine.args, readFile: (file: string) => readFileSync(file, "utf8") };

try {
  if (commandLine.mode === "help") process.stdout.write(configHelp(crmConfig));
  else if (commandLine.mode === "print-config")
    process.stdout.write(configReportText(configReport(crmConfig, sources)));
  else await run();
} catch (thrown) {
  const fault = Fault.from(thrown);
  const shown =
    fault.kind === "internal" && fault.cause instanceof Error ? (fault.cause.stack ?? fault.message) : fault.message;
  process.stderr.write(`${shown}\n`);
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const config = loadConfig(crmConfig, sources);
  const observability = await createObservability({
    service: "oprc-crm",
    version: VERSION,
    ambient: realAmbient,
    log: { ...config.log, isTerminal: process.stdout.isTTY, colors: !process.env["NO_COLOR"] },
    metrics: { processMetrics: true },
    tracing: {
      serviceName: config.tracing.serviceName,
      sampleRatio: config.tracing.sampleRatio,
      ...(config.tracing.endpoint === undefined ? {} : { endpoint: config.tracing.endpoint }),
    },
  });
  const { log } = observability;
  const { kubeconfig, context } = config.k8s;
  const access = loadAccess({
    env: process.env,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const app = await startApp(config, {
    ambient: realAmbient,
    transport: createUndiciTransport(access, realAmbient),
    ownNamespace: access.namespace,
    identity:
      config.leaderElection.identity ??
      config.leaderElection.podName ??
      `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
    logger: log,
    meter: observability.meter,
    metricsText: () => observability.meter.text(),
    metricsType: observability.meter.contentType,
    context: observability.context,
  });
  log.info("the class runtime manager listens", {
    port: app.port,
    grpc_port: app.grpcPort,
    cluster: access.server,
    from: access.origin,
  });
  app.ready.then(
    () => log.info("the class runtime manager is ready"),
    () => undefined,
  );
  stopOnSignal(app, observability);
}

/** The first signal stops in order; a second one does not wait. */
function stopOnSignal(app: RunningApp, observability: Observability): void {
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) process.exit(130);
    stopping = true;
    observability.log.info("the class runtime manager stops", { signal });
    void app
      .close()
      .then(() => observability.close())
      .then(() => process.exit(0));
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
}
