import { Fault, type Ambient } from "@oaas/foundation";
import { type ContextStore, type Logger, type Meter, type MetricsFormat, type Tracer } from "@oaas/observability";
import { openAuditSink } from "./adapters/audit/open-sink.ts";
import { fetchJson } from "./adapters/fetch-json.ts";
import type { openStore } from "./adapters/open-store.ts";
import { followTokens } from "./adapters/token-table.ts";
import { collectMetrics, relayMetrics } from "./adapters/worker-metrics.ts";
import { startWorker, shouldSupervise } from "./adapters/workers.ts";
import { startApp } from "./app.ts";
import { pmConfig, type PmConfig } from "./config.ts";
import { Supervisor } from "./supervisor.ts";
import { VERSION } from "./version.ts";

interface ProcessEnvironment {
  readonly ambient: Ambient;
  readonly observability: {
    readonly log: Logger;
    readonly meter: Meter & { text(format?: MetricsFormat): Promise<string> };
    readonly context: ContextStore;
    readonly tracer?: Tracer;
  };
  readonly onConfigChange?: (listener: (config: PmConfig) => void) => void;
  readonly configWarnings?: () => readonly string[];
}

/** The package manager as a program of the service shell, with the store that `open` returns. */
export function packageManager(open: typeof openStore) {
  const start = async (config: PmConfig, environment: ProcessEnvironment) => {
    const { ambient, observability, onConfigChange, configWarnings } = environment;
    const { log, meter, context, tracer } = observability;
    const { workers } = config.server;
    if (shouldSupervise(workers)) {
      relayMetrics();
      const supervisor = new Supervisor({ count: workers, startWorker, ambient, logger: log });
      await supervisor.start();
      return supervisor;
    }
    const { tokensFile } = config.auth;
    const tokens =
      tokensFile === undefined ? undefined : namingVariable(() => followTokens(tokensFile, ambient.clock, log));
    const audit = await openAuditSink(config, ambient, log);
    const store = open(config, ambient, log);
    const app = await startApp(config, {
      ambient,
      store,
      tokens: () => tokens?.current(),
      warnings: () => [
        ...[tokens?.warning()].filter((warning) => warning !== undefined),
        ...(configWarnings?.() ?? []),
      ],
      fetchJson,
      audit,
      logger: log,
      meter,
      metricsText: collectMetrics((format) => meter.text(format), ambient),
      context,
      tracer,
    }).catch(async (thrown: unknown) => {
      await store.close();
      throw thrown;
    });
    onConfigChange?.((changed) => app.applyConfig(changed));
    for (const warning of app.warnings) log.warn(warning);
    const { host, port, grpcPort, metricsPort } = app;
    log.info("package manager listening", { host, port, grpc_port: grpcPort, metrics_port: metricsPort });
    return {
      close: async () => {
        await app.close();
        await store.close();
      },
    };
  };
  return { service: "oprc-pm", version: VERSION, config: pmConfig, start };
}

/** Names the setting to correct in a fault that prevents the start. */
function namingVariable<T>(follow: () => T): T {
  try {
    return follow();
  } catch (thrown) {
    const fault = Fault.from(thrown);
    throw fault.with({ message: `AUTH_TOKENS_FILE: ${fault.message}`, cause: thrown });
  }
}
