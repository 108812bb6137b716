import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startPrometheus, type PrometheusUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCliRunner } from "./cli-runner.ts";

/** `oaas nfr backtest` with a real Prometheus. */
const STEP_SECONDS = 15;
const TO_MS = Math.floor(Date.now() / 60_000) * 60_000 - 60_000;
const STEPS = 240;
const TIMES = Array.from({ length: STEPS + 1 }, (_, index) => TO_MS - (STEPS - index) * STEP_SECONDS * 1000);

type Labels = Readonly<Record<string, string>>;

const own = { namespace: "default", pod: "hello-7d4b9c6f5d-x2x4z", container: "function" };
const component = { ...own, oaas_owner: "hello", deployment_id: "d1", function: "hello" };

/** The load triples after half an hour. */
const rps = (step: number): number => (step < STEPS / 2 ? 100 : 300);
const isSlow = (step: number): boolean => step >= STEPS / 2;

function gauge(name: string, labels: Labels, value: (step: number) => number) {
  const samples = TIMES.map((atMs, step) => ({ atMs, value: value(step) }));
  return { labels: { __name__: name, ...labels }, samples };
}

function counter(name: string, labels: Labels, perSecond: (step: number) => number) {
  let total = 0;
  return gauge(name, labels, (step) => (total += perSecond(step) * STEP_SECONDS));
}

const SERIES = [
  counter("http_requests_total", { ...component, code: "200" }, rps),
  counter("http_request_duration_seconds_count", component, rps),
  counter("http_request_duration_seconds_bucket", { ...component, le: "0.1" }, (step) =>
    isSlow(step) ? 0 : rps(step),
  ),
  counter("http_request_duration_seconds_bucket", { ...component, le: "0.5" }, rps),
  counter("http_request_duration_seconds_bucket", { ...component, le: "+Inf" }, rps),
  counter("container_cpu_usage_seconds_total", own, (step) => (4 * rps(step)) / 1000),
  gauge("kube_deployment_spec_replicas", { namespace: "default", deployment: "hello" }, () => 2),
  gauge("kube_deployment_status_replicas_ready", { namespace: "default", deployment: "hello" }, () => 2),
];

interface Result {
  readonly mode: string;
  readonly violatedMinutes: number;
  readonly actions: readonly {
    readonly at: string;
    readonly to: number;
    readonly record: { readonly digest: string };
  }[];
}

describe("oaas nfr backtest --prometheus", () => {
  let prometheus: PrometheusUnderTest;
  let folder: string;
  let oaas: ReturnType<typeof createCliRunner>;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "oaas-backtest-"));
    oaas = createCliRunner(folder);
    prometheus = await startPrometheus();
    await prometheus.write(SERIES);
  });
  afterAll(async () => {
    await prometheus?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const fetching = (name = "hello"): readonly string[] => {
    const [from, to] = [TO_MS - STEPS * STEP_SECONDS * 1000, TO_MS].map((atMs) => new Date(atMs).toISOString());
    const options = `--from ${from} --to ${to} --max-latency 200 --min-replicas 2 --cpu-request 500 -o json`;
    return `nfr backtest --prometheus ${prometheus.url} --class ${name} ${options}`.split(" ");
  };

  it("decides on fetched metrics as on their recording", async () => {
    const saved = path.join(folder, "saved.json");
    const fetched = await oaas([...fetching(), "--save", saved]);
    expect({ code: fetched.code, err: fetched.err }).toEqual({ code: 0, err: "" });
    const replayed = await oaas(["nfr", "backtest", saved, "-o", "json"]);
    expect(replayed.code).toBe(0);
    expect(JSON.parse(replayed.out)).toEqual(JSON.parse(fetched.out));
    const [result] = JSON.parse(fetched.out) as [Result];
    expect(result.mode).toBe("recorded");
    expect(result.violatedMinutes).toBeGreaterThan(20);
    expect(result.actions.length).toBeGreaterThan(1);
    expect(result.actions[0]?.to).toBeGreaterThan(2);
    // Not before the load rose.
    expect(Date.parse(result.actions[0]?.at ?? "")).toBeGreaterThan(TO_MS - (STEPS / 2) * STEP_SECONDS * 1000);
    for (const { record } of result.actions) expect(record.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it("simulates the fetched load", async () => {
    const { code, out } = await oaas([...fetching(), "--simulate"]);
    expect(code).toBe(0);
    const [result] = JSON.parse(out) as [Result];
    expect(result.mode).toBe("simulated");
  });

  it("reports a class without requests, and a server that does not answer, with the fix", async () => {
    const unknown = await oaas(fetching("absent"));
    expect(unknown.code).toBe(2);
    expect(JSON.parse(unknown.err)).toMatchObject({
      error: expect.stringContaining("has no requests of class absent in namespace default") as string,
      fix: expect.stringContaining("--class") as string,
    });
    const line = "nfr backtest --class hello --prometheus http://127.0.0.1:9";
    const down = await oaas(`${line} -o json`);
    expect(down.code).toBe(6);
    expect(JSON.parse(down.err)).toMatchObject({
      error: expect.stringContaining("cannot reach http://127.0.0.1:9") as string,
      kind: "unavailable",
      exit_code: 6,
      fix: expect.stringContaining("--prometheus") as string,
    });
    expect((await oaas(line)).err).toMatch(/cannot reach http:\/\/127\.0\.0\.1:9 .*\n +hint: check that --prometheus/);
  });
});
