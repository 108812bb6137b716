import type { FetchPort } from "@oaas/contracts/rest";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { StackPackageManager } from "./stack-package-manager.ts";

const example = { package: { name: "shop" }, deployment: { key: "order", target_clusters: ["edge", "cloud"] } };

const CLUSTERS = ["edge", "cloud"].map((name) => ({ name, url: `http://${name}`, labels: {} }));

/** A package manager that reports the deployment in these conditions. */
function createFetch(condition: string, clusters: Readonly<Record<string, string>>): FetchPort {
  const status = {
    key: "order",
    condition,
    message: null,
    revision: 1,
    clusters: Object.entries(clusters).map(([cluster, of]) => ({
      cluster,
      unit_id: `order-${cluster}`,
      reachable: of !== "Unknown",
      condition: of,
      phase: null,
      message: null,
      functions: [],
      error: null,
      observed_at: null,
    })),
    operation: null,
    achieved_quorum_availability: null,
    planned_availability: null,
    present_availability: null,
    updated_at: "2026-01-01T00:00:00.000Z",
  };
  const deployment = {
    key: "order",
    package_name: "shop",
    class_key: "Order",
    target_envs: [],
    target_clusters: [],
    nfr_requirements: {
      min_throughput_rps: null,
      max_latency_ms: null,
      availability: null,
      cpu_utilization_target: null,
    },
    functions: [],
    condition: "DEPLOYING",
  };
  return async (url) => Response.json(url.endsWith("/status") ? status : deployment);
}

test.each([
  {
    case: "it runs in all clusters",
    condition: "Running",
    clusters: { edge: "Running", cloud: "Running" },
    waitsMs: 0,
  },
  {
    case: "it runs in the clusters of this start, and one cluster is missing",
    condition: "Unknown",
    clusters: { edge: "Running", cloud: "Running", "far-edge": "Unknown" },
    waitsMs: 0,
  },
  {
    case: "a cluster of this start is not ready until the timeout",
    condition: "Deploying",
    clusters: { edge: "Running", cloud: "Deploying", "far-edge": "Unknown" },
    waitsMs: 60_000,
  },
])("waits for an existing example: $case", async ({ condition, clusters, waitsMs }) => {
  const { time, ...ambient } = virtualAmbient(1);
  const manager = { url: "http://pm", hasConsole: false, close: async () => undefined, kill: async () => undefined };
  const packageManager = new StackPackageManager({
    ambient,
    fetch: createFetch(condition, clusters),
    packageManager: { check: async () => undefined, start: async () => manager },
    examples: () => [example],
  });
  const notes: string[] = [];
  let isUp = false;
  const started = packageManager
    .start(CLUSTERS, { step: () => undefined, note: (text) => void notes.push(text) })
    .then(() => (isUp = true));
  await time.advance(waitsMs === 0 ? 0 : waitsMs - 1_000);
  expect(isUp).toBe(waitsMs === 0);
  await time.advance(2_000);
  await started;
  expect(notes).toEqual([]);
});

describe("a package manager that responds slowly", () => {
  const NO_PROGRESS = { step: () => undefined, note: () => undefined };

  function createSlow(examples: readonly (typeof example)[]) {
    const { time, ...ambient } = virtualAmbient(1);
    const machine = { isBusy: false };
    const fetch: FetchPort = async (_, init) => {
      if (!machine.isBusy) return Response.json([]);
      return new Promise((_resolve, reject) =>
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason as Error)),
      );
    };
    const manager = { url: "http://pm", hasConsole: false, close: async () => undefined, kill: async () => undefined };
    const starter = { check: async () => undefined, start: async () => manager };
    const packageManager = new StackPackageManager({
      ambient,
      fetch,
      packageManager: starter,
      examples: () => examples,
    });
    const readState = async (): Promise<string> => {
      const reading = packageManager.readState();
      await time.advance(2_000);
      return (await reading).state;
    };
    return { packageManager, machine, time, readState };
  }

  test("is reported as starting during the start", async () => {
    const { packageManager, machine, time, readState } = createSlow([example]);
    machine.isBusy = true;
    void packageManager.start(CLUSTERS, NO_PROGRESS);
    await time.advance(0);
    expect(await readState()).toBe("starting");
  });

  test("keeps its last state, and is reported as failed after 15 s", async () => {
    const { packageManager, machine, time, readState } = createSlow([]);
    await packageManager.start([], NO_PROGRESS);
    expect(await readState()).toBe("running");
    machine.isBusy = true;
    expect(await readState()).toBe("running");
    await time.advance(15_000);
    expect(await readState()).toBe("failed");
  });
});

test.each([
  { hasConsole: true, consoleUrl: "http://pm/" },
  { hasConsole: false, consoleUrl: undefined },
])("has the address of the console while it runs: $hasConsole", async ({ hasConsole, consoleUrl }) => {
  const manager = { url: "http://pm", hasConsole, close: async () => undefined, kill: async () => undefined };
  const offered: unknown[] = [];
  const packageManager = new StackPackageManager({
    ambient: virtualAmbient(1),
    fetch: async () => Response.json([]),
    packageManager: {
      check: async () => undefined,
      start: async (_clusters, lab) => {
        offered.push(lab);
        return manager;
      },
    },
    examples: () => [],
  });
  const lab = {} as never;
  packageManager.offerLab(lab);
  expect(packageManager.consoleUrl).toBeUndefined();
  await packageManager.start([], { step: () => undefined, note: () => undefined });
  expect(packageManager.consoleUrl).toBe(consoleUrl);
  await packageManager.kill();
  expect(packageManager.consoleUrl).toBeUndefined();
  await packageManager.restart();
  expect(packageManager.consoleUrl).toBe(consoleUrl);
  expect(offered, "also after a restart").toEqual([lab, lab]);
});
