import { renameSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { KubeObject } from "@oaas/kube-core";
import { readDecisionRecord, recompute, RECORD_ANNOTATION } from "@oaas/nfr/policy";
import { describeWith, eventually, startPrometheus, type PrometheusUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { feedLoad } from "./support/class-load.ts";
import { classManifest, ControllerFixture } from "./support/controller-fixture.ts";
import { startManagerProcess, type ManagerProcess } from "./support/manager-process.ts";

const SCALED = {
  nfr_requirements: { min_throughput_rps: 30, max_latency_ms: 200 },
  enforcement: { mode: "enforce", dimensions: ["replicas"] },
};

interface RecordedEvent extends KubeObject {
  readonly reason?: string;
}

describeWith(["kubernetes", "prometheus"], "enforcement with a real Prometheus", () => {
  let fixture: ControllerFixture;
  let prometheus: PrometheusUnderTest;
  let manager: ManagerProcess;
  let folder: string;
  const replaceFile = (text: string): void => {
    const file = path.join(folder, "crm.yaml");
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const feeding = new AbortController();
  let fed: Promise<void> | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "crm-enforcement-"));
    [fixture, prometheus] = await Promise.all([ControllerFixture.start(), startPrometheus()]);
    replaceFile("enforcement: {freeze: true}\n");
    manager = await startManagerProcess(fixture.cluster.kubeconfig, folder, {
      OPRC_CRM_CONFIG_FILE: path.join(folder, "crm.yaml"),
      OPRC_CRM_K8S_NAMESPACE: "default",
      OPRC_CRM_PROM_URL: prometheus.url,
      OPRC_CRM_ANALYZER_INTERVAL_SECS: "1s",
      OPRC_CRM_PROM_STEP: "2s",
      OPRC_CRM_PROM_RANGE: "1m",
      OPRC_CRM_PROM_RATE_WINDOW: "10s",
      OPRC_CRM_FEATURES_NFR_ENFORCEMENT: "true",
      OPRC_CRM_ENFORCEMENT_MODE: "basic",
    });
    fed = feedLoad(prometheus, feeding.signal);
  });
  afterAll(async () => {
    feeding.abort();
    await fed;
    await manager?.stop();
    await prometheus?.close();
    await fixture?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const waitForEnforced = (reason: string) =>
    fixture.waitForStatus(
      "default",
      "web",
      `NfrEnforced with ${reason}`,
      ({ conditions = [] }) => conditions.find(({ type }) => type === "NfrEnforced")?.reason === reason,
    );

  it("changes nothing while the configuration file freezes it, and says so", async () => {
    await fixture.apply("default", classManifest("web", SCALED));
    await waitForEnforced("Frozen");
    replaceFile("enforcement: {freeze: false, cooldown: nonsense}\n");
    await eventually(async () =>
      expect(await manager.log()).toContainEqual(
        expect.objectContaining({ message: "reload configuration file failed; keeping the last valid settings" }),
      ),
    );
    const status = await waitForEnforced("Frozen");
    expect(status.last_applied_at).toBeUndefined();
    expect(await fixture.kubectl("get deploy web -n default -o jsonpath={.spec.replicas}")).toBe("1");
  });

  it("scales it after the file changed, with the settings of the new file", async () => {
    replaceFile("enforcement: {freeze: false, stability: 61s, cooldown: 62s, maxDeltaPercent: 63}\n");
    const status = await fixture.waitForStatus(
      "default",
      "web",
      "an action",
      (one) => one.last_applied_at !== undefined,
    );
    const [applied] = status.last_applied_recommendations ?? [];
    const record = readDecisionRecord(JSON.parse(applied?.record ?? "null"));
    if (!record.ok) throw new Error(JSON.stringify(record.error));
    expect(record.value.settings).toMatchObject({ stabilityMs: 61_000, cooldownMs: 62_000, maxDelta: 0.63 });
  });

  it("scales a class whose error budget burns, and records a decision that can be recomputed", async () => {
    const status = await fixture.waitForStatus(
      "default",
      "web",
      "an action",
      (one) => one.last_applied_at !== undefined,
    );
    const [applied] = status.last_applied_recommendations ?? [];
    expect(applied).toMatchObject({ component: "f", dimension: "replicas", lane: "emergency", current: 1, target: 5 });
    await eventually(
      async () => {
        const replicas = await fixture.kubectl("get deploy web -n default -o jsonpath={.spec.replicas}");
        expect(Number(replicas)).toBeGreaterThanOrEqual(5);
      },
      { timeoutMs: 30_000, what: "five replicas" },
    );
    const event = await eventually(
      async () => {
        const text = await fixture.kubectl("get events -n default -o json");
        const { items } = JSON.parse(text) as { readonly items: readonly RecordedEvent[] };
        const found = items.find(({ reason }) => reason === "NFRApplied");
        if (found === undefined) throw new Error("no NFRApplied");
        return found;
      },
      { timeoutMs: 30_000, what: "the event NFRApplied" },
    );
    const record = readDecisionRecord(JSON.parse(event.metadata.annotations?.[RECORD_ANNOTATION] ?? "null"));
    if (!record.ok) throw new Error(JSON.stringify(record.error));
    expect(recompute(record.value)).toEqual({ isEqual: true, problems: [], recomputed: record.value.outcome });
    expect(record.value.digest).toBe(applied?.digest);
    expect(applied?.record).toBe(JSON.stringify(record.value));
    expect(event.metadata.name).toBe(`web-${record.value.digest.slice("sha256:".length, 23)}`);
    expect(record.value.samplesDigest).toMatch(/^sha256:[0-9a-f]{64}$/u);
  });
});
