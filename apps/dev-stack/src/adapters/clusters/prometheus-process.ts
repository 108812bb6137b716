import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import {
  componentFile,
  onFreePorts,
  probe,
  startProcess,
  untilReady,
  type RunningProcess,
} from "@oaas/real-components";

/** Starts the Prometheus of a cluster, with its data in the cluster's folder. */
export async function startPrometheus(
  folder: string,
  scrapeConfigs: readonly object[],
): Promise<{ readonly url: string; readonly process: RunningProcess }> {
  const home = path.join(folder, "prometheus");
  await mkdir(home, { recursive: true, mode: 0o700 });
  // YAML is a superset of JSON.
  await writeFile(path.join(home, "prometheus.yml"), JSON.stringify({ scrape_configs: scrapeConfigs }), {
    mode: 0o600,
  });
  return onFreePorts(1, async ([port = 0]) => {
    const url = `http://127.0.0.1:${port}`;
    const process = await startProcess({
      command: componentFile("prometheus"),
      args: [
        `--config.file=${path.join(home, "prometheus.yml")}`,
        `--storage.tsdb.path=${path.join(home, "data")}`,
        "--storage.tsdb.retention.time=1d",
        `--web.listen-address=127.0.0.1:${port}`,
        "--log.level=warn",
      ],
      cwd: home,
      logFile: path.join(folder, "prometheus.log"),
      register: path.join(folder, "processes"),
    });
    try {
      await untilReady(process, async () => (await probe(`${url}/-/ready`)).status === 200);
    } catch (thrown) {
      await process.stop(0);
      throw thrown;
    }
    return { url, process };
  });
}
