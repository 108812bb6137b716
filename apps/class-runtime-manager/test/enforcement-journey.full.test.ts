import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { KubeObject } from "@oaas/kube-core";
import { RECORD_ANNOTATION } from "@oaas/nfr/policy";
import {
  describeWith,
  eventually,
  makeRunFolder,
  runCommand,
  startPrometheus,
  type PrometheusUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compressTime, startMeasuringLoop, type MeasuringLoop } from "./support/compressed-time.ts";
import { classManifest, ControllerFixture, FACTS } from "./support/controller-fixture.ts";
import { startLoad, type SyntheticLoad } from "./support/synthetic-load.ts";

const CLI = path.resolve(import.meta.dirname, "..", "..", "cli", "src", "main.ts");
const NAMESPACE = "journey";
const SPEED = 20;
const HOUR_MS = 3_600_000;

interface RecordedEvent extends KubeObject {
  readonly reason?: string;
}

interface Change {
  readonly from: number;
  readonly to: number;
  readonly lane: string;
}

interface Decision {
  readonly input: { readonly nowMs: number };
  readonly outcome: Change;
}

interface ReplayedAction extends Change {
  readonly at: string;
}

describeWith(["kubernetes", "kwok", "kubectl", "prometheus"], "a Deployment under enforcement", () => {
  let fixture: ControllerFixture;
  let prometheus: PrometheusUnderTest;
  let folder: RunFolder;
  let loop: MeasuringLoop;
  let load: SyntheticLoad;
  let startMs: number;
  let pods: readonly string[] = [];
  const ambient = compressTime(SPEED, Date.now() - 3 * HOUR_MS);
  const watching = new AbortController();
  let watched: Promise<void> | undefined;

  const watch = async (): Promise<void> => {
    while (!watching.signal.aborted) {
      const names = await fixture.kubectl(`get pods -n ${NAMESPACE} -o jsonpath={.items[*].metadata.name}`);
      pods = names.split(" ").filter((name) => name !== "");
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  };
  const replicas = async (): Promise<number> =>
    Number(await fixture.kubectl(`get deploy web -n ${NAMESPACE} -o jsonpath={.spec.replicas}`));
  const waitForReplicas = (what: string, isTrue: (count: number) => boolean): Promise<unknown> =>
    eventually(async () => isTrue(await replicas()), { what, timeoutMs: 240_000 });
  const events = async (): Promise<readonly RecordedEvent[]> => {
    const text = await fixture.kubectl(`get events -n ${NAMESPACE} -o json`);
    return (JSON.parse(text) as { readonly items: readonly RecordedEvent[] }).items;
  };
  const laneOfLast = async (): Promise<string | undefined> =>
    (await fixture.status(NAMESPACE, "web"))?.last_applied_recommendations?.[0]?.lane;

  beforeAll(async () => {
    [fixture, prometheus, folder] = await Promise.all([
      ControllerFixture.start(),
      startPrometheus(),
      makeRunFolder("enforcement-journey"),
    ]);
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    const facts = { ...FACTS, features: { ...FACTS.features, hpa: false }, enforcement: "basic" } as const;
    const crm = await fixture.startController({ namespaces: [NAMESPACE], facts });
    const provision = { container_image: "example.test/fn:1", cpu_request: "500m", min_scale: 1, max_scale: 16 };
    const spec = {
      functions: [{ function_key: "f", provision_config: provision }],
      nfr_requirements: { min_throughput_rps: 10, max_latency_ms: 100 },
      enforcement: { mode: "enforce", dimensions: ["replicas"] },
    };
    await fixture.apply(NAMESPACE, classManifest("web", spec));
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    watched = watch();
    await eventually(() => pods.length === 1);
    const one = { scheme: "http", namespace: NAMESPACE, name: "web", cpuPerRequest: 20, capacityRps: 50 } as const;
    startMs = ambient.clock.now();
    load = startLoad({ ...one, pods: () => pods }, prometheus, ambient.clock, 10);
    // The windows of the backtest.
    loop = startMeasuringLoop(crm, NAMESPACE, prometheus.url, ambient, {});
  });
  afterAll(async () => {
    watching.abort();
    await watched;
    await load?.stop();
    await loop?.stop();
    await prometheus?.close();
    await fixture?.close();
    await folder?.remove();
  });

  test("grows in the stable lane with a visible cooldown, and in the emergency lane in a spike", async () => {
    await fixture.waitForStatus(NAMESPACE, "web", "Enforcing", ({ conditions }) =>
      Boolean(conditions?.some(({ type, reason }) => type === "NfrEnforced" && reason === "Enforcing")),
    );
    load.rps = 45;
    await waitForReplicas("three replicas", (count) => count >= 3);
    expect(await laneOfLast()).toBe("stable");
    const reasons = (await events()).map(({ reason }) => reason);
    expect(reasons).toEqual(expect.arrayContaining(["NFRSkippedStability", "NFRApplied", "NFRSkippedCooldown"]));
    const before = await replicas();
    load.rps = 400;
    await waitForReplicas("four more replicas", (count) => count >= before + 4);
    await eventually(async () => (await laneOfLast()) === "emergency");
  });

  test("shrinks when the spike is over", async () => {
    const most = await replicas();
    load.rps = 20;
    await waitForReplicas("fewer replicas", (count) => count <= most - 3);
    expect(await laneOfLast()).toBe("stable");
  });

  test("makes the recorded changes at the same times in a backtest of the recorded data", async () => {
    await loop.stop();
    const file = path.join(folder.path, "recording.json");
    const oaas = (...args: readonly string[]) =>
      runCommand(process.execPath, [CLI, "nfr", "backtest", ...args], { env: { HOME: folder.path } });
    const range = [
      "--from",
      new Date(startMs - 60_000).toISOString(),
      "--to",
      new Date(ambient.clock.now()).toISOString(),
    ];
    const names = ["--class", "web", "--namespace", NAMESPACE, "--function", "f", "--save", file];
    const limits = ["--max-latency", "100", "--min-throughput", "10", "--min-replicas", "1", "--max-replicas", "16"];
    const options = [...range, ...names, ...limits, "--cpu-request", "500"];
    const fetched = await oaas("--prometheus", prometheus.url, ...options);
    expect(fetched).toMatchObject({ exitCode: 0, stderr: "" });
    const decisions = (await events())
      .flatMap(({ metadata }) => {
        const text = metadata.annotations?.[RECORD_ANNOTATION];
        return text === undefined ? [] : [JSON.parse(text) as Decision];
      })
      .toSorted((a, b) => a.input.nowMs - b.input.nowMs);
    expect(decisions.length).toBeGreaterThanOrEqual(4);
    const recording = JSON.parse(await readFile(file, "utf8")) as { readonly components: readonly object[] };
    const components = recording.components.map((one) => ({ ...one, decisions }));
    await writeFile(file, JSON.stringify({ ...recording, components }));
    const { stdout } = await oaas(file, "--output", "json");
    const [{ actions }] = JSON.parse(stdout) as [{ readonly actions: readonly ReplayedAction[] }];
    const textOf = (at: string, { from, to, lane }: Change): string => `${at} ${from} to ${to} (${lane})`;
    expect(actions.map((one) => textOf(one.at, one))).toEqual(
      decisions.map(({ input, outcome }) => textOf(new Date(input.nowMs).toISOString(), outcome)),
    );
  });
});
