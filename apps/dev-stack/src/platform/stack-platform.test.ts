import type { FetchPort } from "@oaas/contracts/rest";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { StackPlatform } from "./stack-platform.ts";

const example = { package: { name: "shop" }, deployment: { key: "order", target_clusters: ["edge", "cloud"] } };

const KNOWN = ["edge", "cloud"].map((name) => ({ name, url: `http://${name}`, labels: {} }));

/** A package manager that has the deployment, in these conditions. */
function answering(condition: string, clusters: Readonly<Record<string, string>>): FetchPort {
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
  { why: "it runs everywhere", condition: "Running", clusters: { edge: "Running", cloud: "Running" }, waitsMs: 0 },
  {
    why: "it runs in the clusters of this start; another one was left out",
    condition: "Unknown",
    clusters: { edge: "Running", cloud: "Running", "far-edge": "Unknown" },
    waitsMs: 0,
  },
  {
    why: "a cluster of this start is not ready, and patience ends",
    condition: "Deploying",
    clusters: { edge: "Running", cloud: "Deploying", "far-edge": "Unknown" },
    waitsMs: 60_000,
  },
])("an example that is there already is waited for: $why", async ({ condition, clusters, waitsMs }) => {
  const { time, ...ambient } = virtualAmbient(1);
  const manager = { url: "http://pm", close: async () => undefined, kill: async () => undefined };
  const platform = new StackPlatform({
    ambient,
    fetch: answering(condition, clusters),
    packageManager: { check: async () => undefined, start: async () => manager },
    examples: () => [example],
  });
  const notes: string[] = [];
  let isUp = false;
  const started = platform
    .start(KNOWN, { now: () => undefined, note: (text) => void notes.push(text) })
    .then(() => (isUp = true));
  await time.advance(waitsMs === 0 ? 0 : waitsMs - 1_000);
  expect(isUp).toBe(waitsMs === 0);
  await time.advance(2_000);
  await started;
  expect(notes).toEqual([]);
});

describe("a package manager that is slow to answer", () => {
  const NOBODY = { now: () => undefined, note: () => undefined };

  function slowOne(examples: readonly (typeof example)[]) {
    const { time, ...ambient } = virtualAmbient(1);
    const machine = { isBusy: false };
    const fetch: FetchPort = async (_, init) => {
      if (!machine.isBusy) return Response.json([]);
      return new Promise((_resolve, reject) =>
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason as Error)),
      );
    };
    const manager = { url: "http://pm", close: async () => undefined, kill: async () => undefined };
    const packageManager = { check: async () => undefined, start: async () => manager };
    const platform = new StackPlatform({ ambient, fetch, packageManager, examples: () => examples });
    const look = async (): Promise<string> => {
      const looking = platform.look();
      await time.advance(2_000);
      return (await looking).state;
    };
    return { platform, machine, time, look };
  }

  test("is still starting while it starts", async () => {
    const { platform, machine, time, look } = slowOne([example]);
    machine.isBusy = true;
    void platform.start(KNOWN, NOBODY);
    await time.advance(0);
    expect(await look()).toBe("starting");
  });

  test("is shown as it was, and has failed when it is slow for long", async () => {
    const { platform, machine, time, look } = slowOne([]);
    await platform.start([], NOBODY);
    expect(await look()).toBe("running");
    machine.isBusy = true;
    expect(await look()).toBe("running");
    await time.advance(15_000);
    expect(await look()).toBe("failed");
  });
});
