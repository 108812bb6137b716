import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  componentFile,
  makeRunFolder,
  onFreePorts,
  probe,
  startFailure,
  startProcess,
  untilReady,
  type RunningProcess,
} from "@oaas/real-components";

/** A real OpenTelemetry Collector on loopback. */
export interface OtelCollectorUnderTest extends AsyncDisposable {
  /** The address of its OTLP/HTTP receiver. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a collector that validates the traces it receives over OTLP/HTTP and forwards them as JSON to another receiver. */
export function startOtelCollector(forwardTo: string): Promise<OtelCollectorUnderTest> {
  return onFreePorts(1, async ([port = 0]) => {
    const folder = await makeRunFolder("otel-collector");
    const url = `http://127.0.0.1:${port}`;
    let collector: RunningProcess | undefined;
    try {
      const config = {
        receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
        exporters: { otlp_http: { endpoint: forwardTo, encoding: "json", compression: "none" } },
        service: {
          telemetry: { metrics: { level: "none" } },
          pipelines: { traces: { receivers: ["otlp"], exporters: ["otlp_http"] } },
        },
      };
      // YAML is a superset of JSON.
      await writeFile(join(folder.path, "config.yaml"), JSON.stringify(config));
      collector = await startProcess({
        command: componentFile("otel-collector"),
        args: ["--config=config.yaml"],
        cwd: folder.path,
        logFile: join(folder.path, "otel-collector.log"),
      });
      // The receiver accepts POST only.
      await untilReady(collector, async () => (await probe(`${url}/v1/traces`)).status === 405);
    } catch (error) {
      await collector?.stop(0);
      throw await startFailure("the OpenTelemetry Collector", folder, error);
    }
    const running = collector;
    const close = async (): Promise<void> => {
      await running.stop(0);
      await folder.remove();
    };
    return { url, close, [Symbol.asyncDispose]: close };
  });
}
