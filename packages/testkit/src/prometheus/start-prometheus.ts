import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { invalidArgument } from "@oaas/foundation";
import {
  componentFile,
  makeRunFolder,
  onFreePorts,
  probe,
  startFailure,
  startProcess,
  untilReady,
  type RunFolder,
  type RunningProcess,
} from "@oaas/real-components";
import { encodeWriteRequest, type Series } from "./remote-write.ts";

export interface PrometheusOptions {
  /** Additional configuration, such as scrape_configs and rule_files. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** One series of a result: an instant vector has one point, a range has many. Values are numbers. */
export interface QueriedSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly { readonly atMs: number; readonly value: number }[];
}

/** A real Prometheus on loopback. */
export interface PrometheusUnderTest extends AsyncDisposable {
  readonly url: string;
  /** Stores samples up to thirty days old, in any order; they can be queried at once. */
  write(series: readonly Series[]): Promise<void>;
  query(expression: string, atMs?: number): Promise<QueriedSeries[]>;
  queryRange(expression: string, range: { fromMs: number; toMs: number; stepMs: number }): Promise<QueriedSeries[]>;
  /** The labels of the exemplars of the selected series in a time range. */
  exemplars(selector: string, range: { fromMs: number; toMs: number }): Promise<Readonly<Record<string, string>>[]>;
  close(): Promise<void>;
}

/** Starts a Prometheus that accepts remote writes, and waits until it is ready. */
export function startPrometheus(options: PrometheusOptions = {}): Promise<PrometheusUnderTest> {
  return onFreePorts(1, async ([port = 0]) => {
    const folder = await makeRunFolder("prometheus");
    const url = `http://127.0.0.1:${port}`;
    let server: RunningProcess | undefined;
    try {
      // YAML is a superset of JSON, so the configuration needs no YAML writer.
      const config = { storage: { tsdb: { out_of_order_time_window: "30d" } }, ...options.config };
      await writeFile(join(folder.path, "prometheus.yml"), JSON.stringify(config));
      server = await launch(folder.path, port);
      await untilReady(server, async () => (await probe(`${url}/-/ready`)).status === 200);
    } catch (error) {
      await server?.stop(0);
      throw await startFailure("Prometheus", folder, error);
    }
    return underTest(url, server, folder);
  });
}

function launch(folder: string, port: number): Promise<RunningProcess> {
  return startProcess({
    command: componentFile("prometheus"),
    args: [
      "--config.file=prometheus.yml",
      "--storage.tsdb.path=data",
      "--storage.tsdb.retention.time=60d",
      `--web.listen-address=127.0.0.1:${port}`,
      "--web.enable-lifecycle",
      "--web.enable-remote-write-receiver",
      "--web.enable-admin-api",
      "--enable-feature=exemplar-storage",
      "--log.level=warn",
    ],
    cwd: folder,
    logFile: join(folder, "prometheus.log"),
  });
}

function underTest(url: string, server: RunningProcess, folder: RunFolder): PrometheusUnderTest {
  const close = async (): Promise<void> => {
    await server.stop(0);
    await folder.remove();
  };
  return {
    url,
    write: (series) => write(url, series),
    query: (expression, atMs) =>
      query(url, "query", { query: expression, ...(atMs === undefined ? {} : { time: seconds(atMs) }) }),
    queryRange: (expression, { fromMs, toMs, stepMs }) =>
      query(url, "query_range", {
        query: expression,
        start: seconds(fromMs),
        end: seconds(toMs),
        step: seconds(stepMs),
      }),
    exemplars: (selector, { fromMs, toMs }) =>
      exemplars(url, { query: selector, start: seconds(fromMs), end: seconds(toMs) }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

const seconds = (ms: number): string => String(ms / 1000);

async function write(url: string, series: readonly Series[]): Promise<void> {
  const answer = await probe(`${url}/api/v1/write`, {
    method: "POST",
    body: encodeWriteRequest(series),
    headers: {
      "content-encoding": "snappy",
      "content-type": "application/x-protobuf",
      "x-prometheus-remote-write-version": "0.1.0",
    },
  });
  if (answer.status !== 204) throw invalidRequest("samples", answer.body);
}

interface ApiAnswer {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly result: readonly RawSeries[] };
}

interface RawSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}

async function query(url: string, kind: string, parameters: Record<string, string>): Promise<QueriedSeries[]> {
  const { body } = await probe(`${url}/api/v1/${kind}?${new URLSearchParams(parameters).toString()}`);
  const answer = JSON.parse(body) as ApiAnswer;
  if (answer.status !== "success") throw invalidRequest(parameters["query"] ?? "", answer.error ?? body);
  return (answer.data?.result ?? []).map((series) => ({
    labels: series.metric,
    points: (series.values ?? (series.value ? [series.value] : [])).map(([at, value]) => ({
      atMs: at * 1000,
      value: Number(value.replace("Inf", "Infinity")),
    })),
  }));
}

async function exemplars(url: string, parameters: Record<string, string>): Promise<Record<string, string>[]> {
  const { body } = await probe(`${url}/api/v1/query_exemplars?${new URLSearchParams(parameters).toString()}`);
  const { data = [] } = JSON.parse(body) as {
    readonly data?: readonly { readonly exemplars: readonly { readonly labels: Record<string, string> }[] }[];
  };
  return data.flatMap((series) => series.exemplars.map(({ labels }) => labels));
}

function invalidRequest(what: string, why: string): Error {
  return invalidArgument(`the Prometheus request (${what})`, [{ path: "$", message: why.trim() }]);
}
