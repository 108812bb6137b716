import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bench } from "./harness.ts";
import { startMeasuredStack, type MeasuredStack } from "./stack/measured-stack.ts";

const STARTS = 3;
const DEPLOYMENTS = 5;
/** `OAAS_BENCH_IDLE_SECONDS=600` for a long run. */
const IDLE_SECONDS = Number(process.env["OAAS_BENCH_IDLE_SECONDS"] ?? 60);
/** Time for the remaining work after the start: caches and first health checks. */
const SETTLE_MS = 15_000;
/** At rest each manager still measures its classes, every 3 s; the load of the classes is simulated. */
const BUDGET = { readyMs: 10_000, memoryMiB: 400, idlePercent: 6 };
const CLUSTERS = ["edge", "cloud", "far-edge"];

/** The local stack: start time, resources, idle resources, and the time to deploy a class. */
export const bench: Bench = {
  name: "stack",
  async run(log) {
    const folder = mkdtempSync(path.join(tmpdir(), "oaas-bench-stack-"));
    const dataDir = path.join(folder, "data");
    const running: MeasuredStack[] = [];
    const start = async (): Promise<MeasuredStack> => {
      const stack = await startMeasuredStack(dataDir);
      running.push(stack);
      return stack;
    };
    try {
      const first = await start();
      log(`first start on an empty folder: ${Math.round(first.readyMs)} ms`);
      await first.stop();
      const warm: MeasuredStack[] = [];
      for (let count = 0; count < STARTS; count += 1) {
        const stack = await start();
        warm.push(stack);
        if (count < STARTS - 1) await stack.stop();
      }
      const stack = warm.at(-1) ?? first;
      log(`idle for ${IDLE_SECONDS} s`);
      await sleep(SETTLE_MS);
      const before = await stack.figures();
      await sleep(IDLE_SECONDS * 1000);
      const after = await stack.figures();
      const idlePercent = (after.cpuMs - before.cpuMs) / IDLE_SECONDS / 10;
      const times: number[] = [];
      for (let count = 0; count < DEPLOYMENTS; count += 1) times.push(await untilRunning(stack.url, `bench-${count}`));
      const last = await stack.figures();
      const deployCpuMs = (last.cpuMs - after.cpuMs) / DEPLOYMENTS;
      await stack.stop();
      const readyMs = median(warm.map((each) => each.readyMs));
      const memoryMiB = Math.max(before.rssBytes, after.rssBytes, last.rssBytes) / 2 ** 20;
      return {
        title: `The local stack: package manager, ${CLUSTERS.length} simulated clusters with a manager each, three deployments, in one process`,
        measurements: [
          { name: "command to ready, empty folder", value: first.readyMs, unit: "ms" },
          { name: "command to ready, warm", value: readyMs, unit: "ms", note: `median of ${STARTS}` },
          {
            name: "CPU time until ready, warm",
            value: median(warm.map((each) => each.readyCpuMs)),
            unit: "ms",
            note: `median of ${STARTS}`,
          },
          { name: "resident when idle", value: after.rssBytes / 2 ** 20, unit: "MiB" },
          { name: "resident, maximum of the samples", value: memoryMiB, unit: "MiB" },
          {
            name: "CPU time when idle",
            value: idlePercent,
            unit: "% of one core",
            note: `over ${IDLE_SECONDS} s`,
          },
          {
            name: "request to Running in three clusters",
            value: median(times),
            unit: "ms",
            note: `median of ${DEPLOYMENTS}; pods take 150 to 400 ms to start`,
          },
          {
            name: "CPU time of the request",
            value: deployCpuMs,
            unit: "ms",
            note: "package manager, three managers, three API servers; polling the state every 20 ms included",
          },
        ],
        ratios: [
          {
            name: "ready in time",
            value: BUDGET.readyMs / readyMs,
            floor: 1,
            explains: "10 s over the time from command to ready, warm",
          },
          { name: "memory", value: BUDGET.memoryMiB / memoryMiB, floor: 1, explains: "400 MiB over what is resident" },
          {
            name: "idle",
            value: BUDGET.idlePercent / idlePercent,
            floor: 1,
            explains: `${BUDGET.idlePercent} % of a core over what it takes when nothing happens, measuring included`,
          },
        ],
      };
    } finally {
      await Promise.allSettled(running.map((stack) => stack.stop()));
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

const POLL_MS = 20;

/** Registers and deploys a class; returns the time until it runs in all clusters. */
async function untilRunning(url: string, name: string): Promise<number> {
  const begun = performance.now();
  const send = async (at: string, body: object): Promise<void> => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/api/v1${at}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${at} answered ${answer.status}: ${await answer.text()}`);
  };
  await send("/packages", {
    name,
    version: "1.0.0",
    classes: [
      { key: "Hello", function_bindings: [{ name: "say", function_key: "Hello.say", access_modifier: "PUBLIC" }] },
    ],
    functions: [{ key: "Hello.say", provision_config: { container_image: "example.test/hello:1.0.0" } }],
  });
  await send("/deployments", { key: name, package_name: name, class_key: "Hello", target_clusters: CLUSTERS });
  for (;;) {
    const answer = await fetch(`${url}/api/v1/deployments/${name}/status`);
    const { condition } = (await answer.json()) as { condition: string };
    if (condition === "Running") return performance.now() - begun;
    await sleep(POLL_MS);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
