import { realTimers } from "@oaas/foundation/real";
import { describe, expect, test } from "vitest";
import { EXIT, UsageError } from "../../exit-code.ts";
import type { ProcessEnvironment } from "../../process-environment.ts";
import { Session } from "../../session/session.ts";
import { backtest } from "./backtest.ts";

const START = Date.UTC(2026, 10, 16, 8) / 1000;

/** Load that doubles after half an hour, on two replicas with 100 requests per second each. */
function recordingText(changes: object = {}): string {
  const samples = (of: (at: number) => number) =>
    Array.from({ length: 120 }, (_, at) => [START + 30 * at, String(of(at))]);
  const rps = (at: number): number => (at < 60 ? 100 : 240);
  return JSON.stringify({
    version: 1,
    components: [
      {
        component: "echo",
        requirements: { max_latency_ms: 200 },
        scale: { min: 2, max: 10, cpu_request_millicores: 500 },
        signals: {
          requests_per_second: samples(rps),
          cpu_millicores: samples((at) => 4 * rps(at)),
          latency_p50_ms: samples(() => 10),
          latency_p99_ms: samples((at) => (at < 60 ? 40 : 250)),
          ready_replicas: samples(() => 2),
        },
        ...changes,
      },
    ],
  });
}

async function open(files: Record<string, string>, output = "table", fetch?: unknown) {
  const printed: string[] = [];
  const written = new Map<string, string>();
  const environment = {
    terminal: { out: (text: string) => printed.push(text), err: () => undefined, isInteractive: false },
    files: {
      read: async (name: string) => files[name],
      writePrivate: async (name: string, text: string) => void written.set(name, text),
    },
    env: { OAAS_PROMETHEUS_TOKEN: "secret" },
    clock: { now: () => START * 1000 + 3_600_000, monotonic: () => performance.now() },
    timers: realTimers,
    fetch,
    signal: new AbortController().signal,
  } as unknown as ProcessEnvironment;
  return { session: await Session.open(environment, { output }), printed, written };
}

describe("oaas nfr backtest", () => {
  test("prints the changes with their reasons and the totals", async () => {
    const { session, printed, written } = await open({ "monday.json": recordingText() });
    expect(await backtest(session, { simulate: false, svg: "out.svg" }, "monday.json")).toBe(EXIT.done);
    expect(printed.join("")).toMatchInlineSnapshot(`
      "echo: decisions on the recorded samples, which do not react to the decisions
      2026-11-16T08:00:00.000Z to 2026-11-16T08:59:30.000Z

      TIME                       CHANGE   LANE     REASON
      2026-11-16T08:34:00.000Z   2 -> 3   stable   all 7 targets in 180 s point up; target 4; rps_per_replica 86.5; requests_per_second 234; cpu_millicores 935; latency_p99_ms 179
      2026-11-16T08:36:00.000Z   3 -> 4   stable   all 7 targets in 180 s point up; target 4; rps_per_replica 86.3; requests_per_second 238; cpu_millicores 954; latency_p99_ms 212

      violated minutes, as recorded: 24
      minutes without a verdict: 1
      replica hours: 2.8 (recorded 1.98)
      changes: 2, of direction: 0
      "
    `);
    expect(written.get("out.svg")).toMatch(/^<svg [^]*<\/svg>\n$/);
  });

  test("prints JSON, with the record of each decision", async () => {
    const { session, printed } = await open({ f: recordingText(), p: "max_replicas: 3\n" }, "json");
    await backtest(session, { simulate: false, policy: "p" }, "f");
    const [result] = JSON.parse(printed.join("")) as [{ actions: { to: number; record: { digest: string } }[] }];
    expect(result).toMatchObject({ component: "echo", mode: "recorded", from: "2026-11-16T08:00:00.000Z" });
    expect(result.actions.map(({ to }) => to)).toEqual([3]);
    expect(result.actions[0]?.record.digest).toMatch(/^sha256:/);
  });

  test("compares with the recorded decisions and fails when one is different", async () => {
    const first = await open({ f: recordingText() }, "json");
    await backtest(first.session, { simulate: false }, "f");
    const [{ actions }] = JSON.parse(first.printed.join("")) as [{ actions: { record: object }[] }];
    const decisions = actions.map(({ record }) => record);
    const second = await open({ f: recordingText({ decisions }), p: "max_replicas: 3\n" });
    expect(await backtest(second.session, { simulate: false }, "f")).toBe(EXIT.done);
    const { length } = decisions;
    expect(second.printed.join("")).toContain(
      `recorded decisions: ${length} of ${length} are the same, ${length} with the same digest`,
    );
    expect(await backtest(second.session, { simulate: false, policy: "p" }, "f")).toBe(EXIT.failed);
  });

  test("simulates the component with the recorded load", async () => {
    const { session, printed } = await open({ f: recordingText() });
    await backtest(session, { simulate: true }, "f");
    expect(printed.join("")).toContain("echo: simulation of the component with the recorded load");
    expect(printed.join("")).toContain("a replica with 500m CPU serves 1 requests at the same time");
  });

  test.each([true, false])("shows the progress on a terminal, with --simulate %s", async (simulate) => {
    const notes: string[] = [];
    let nowMs = START * 1000;
    const { session } = await open({ f: recordingText() });
    const environment = {
      ...session.environment,
      terminal: { ...session.environment.terminal, isInteractive: true, err: (text: string) => notes.push(text) },
      // Each reading takes a second.
      clock: { now: () => (nowMs += 1000), monotonic: () => nowMs },
    };
    await backtest(await Session.open(environment, {}), { simulate }, "f");
    expect(notes.length).toBeGreaterThan(0);
    const shares = notes.map((note) => Number(/^(?:replayed|simulated) echo: (\d+) %\n$/.exec(note)?.[1]));
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares.at(-1)).toBeLessThanOrEqual(100);
  });

  test.each([
    ["{", "f is not JSON"],
    ['{"version":1}', "f is not a recording: $.components: is not a list of components"],
    [recordingText({ signals: { requests_per_second: [[1, "x"]] } }), "requests_per_second[0]: is not a sample"],
  ])("rejects an invalid recording %#", async (text, message) => {
    const { session } = await open({ f: text });
    await expect(backtest(session, { simulate: false }, "f")).rejects.toThrow(message);
  });

  test("rejects missing files, and a file together with a server", async () => {
    const { session } = await open({ f: recordingText() });
    await expect(backtest(session, { simulate: false }, "g")).rejects.toThrow("g does not exist");
    await expect(backtest(session, { simulate: false, policy: "p" }, "f")).rejects.toThrow("p does not exist");
    await expect(backtest(session, { simulate: false })).rejects.toThrow(UsageError);
    await expect(backtest(session, { simulate: false, prometheus: "http://p" }, "f")).rejects.toThrow("both");
  });

  describe("with a server", () => {
    const FLAGS = { simulate: false, prometheus: "http://localhost:9090", class: "hello", step: 30_000 };

    /** Answers every query about requests with a constant load. */
    function prometheus(requests: { url: string; headers: Record<string, string>; body?: string }[]) {
      return async (url: string, init: { headers: Record<string, string>; body?: string }) => {
        requests.push({ url, ...init });
        const form = new URLSearchParams(init.body);
        const isLoad = !(form.get("query") ?? "").includes("_bucket") && (form.get("query") ?? "").includes("count");
        const [start, end] = [Number(form.get("start")), Number(form.get("end"))];
        const values = Array.from({ length: Math.floor((end - start) / 30) + 1 }, (_, at) => [start + 30 * at, "7"]);
        const series = { metric: { namespace: "default", oaas_owner: "hello" }, values };
        const data = { resultType: "matrix", result: isLoad ? [series] : [] };
        return {
          status: 200,
          headers: { get: () => "application/json" },
          text: async () => JSON.stringify({ status: "success", data }),
        };
      };
    }

    test("reads every signal, saves the recording and replays it", async () => {
      const requests: { url: string; headers: Record<string, string>; body?: string }[] = [];
      const { session, printed, written } = await open({}, "table", prometheus(requests));
      const flags = { ...FLAGS, from: "1h", maxLatency: 200, save: "saved.json" };
      expect(await backtest(session, flags)).toBe(EXIT.done);
      expect(requests[0]?.url).toBe("http://localhost:9090/api/v1/query_range");
      expect(requests[0]?.headers["authorization"]).toBe("Bearer secret");
      expect(requests).toHaveLength(14);
      const again = await open({ "saved.json": written.get("saved.json") ?? "" });
      await backtest(again.session, { simulate: false }, "saved.json");
      expect(again.printed).toEqual(printed);
    });

    test.each([
      [{ prometheus: "localhost" }, "--prometheus must be a URL"],
      [{ class: undefined }, "--class is required"],
      [{ from: "yesterday" }, '--from "yesterday" is not a time'],
      [{ from: "1h", to: "2h" }, "--from is not before --to"],
      [{ from: "300d" }, "exceed the limit of 200000"],
      [{ class: "other" }, "has no requests of class other"],
    ])("rejects %o", async (changes, message) => {
      const { session } = await open({}, "table", prometheus([]));
      await expect(backtest(session, { ...FLAGS, ...changes } as typeof FLAGS)).rejects.toThrow(message);
    });

    test("reports a server that cannot be reached", async () => {
      const refuse = async (): Promise<never> => {
        throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
      };
      const { session } = await open({}, "table", refuse);
      await expect(backtest(session, FLAGS)).rejects.toThrow("cannot reach http://localhost:9090 (ECONNREFUSED)");
    });
  });
});
