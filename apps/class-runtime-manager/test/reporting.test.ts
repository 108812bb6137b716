import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { loadConfig } from "@oaas/config";
import { cancelled } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import { eventually, freePorts, makeAuthority } from "@oaas/testkit";
import { afterEach, expect, test } from "vitest";
import { createPmReportSink } from "../src/adapters/pm-report-sink.ts";
import { crmConfig } from "../src/config.ts";
import { MemoryClasses } from "../src/classes/testing/memory-classes.ts";
import { PmReporter, reportingMetrics } from "../src/reporting/pm-reporter.ts";
import { startFakePackageManager, type FakePackageManager } from "./support/fake-package-manager.ts";

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

async function scriptedPm(options: Parameters<typeof startFakePackageManager>[0] = {}): Promise<FakePackageManager> {
  const pm = await startFakePackageManager(options);
  endings.push(() => pm.close());
  return pm;
}

/** A manager that reports, without the rest of it. */
function reporting(env: Record<string, string>, token: () => string | undefined = () => undefined) {
  const { pm: config } = loadConfig(crmConfig, {
    env: { OPRC_CRM_PM_METRICS_INTERVAL_SECS: "1s", ...env },
  });
  const classes = new MemoryClasses();
  const sink = createPmReportSink({ config: { ...config, url: config.url ?? "" }, clock: realAmbient.clock, token });
  const reporter = new PmReporter({
    classes,
    sink,
    cluster: "here",
    ambient: realAmbient,
    logger: NOOP_LOGGER,
    metrics: reportingMetrics(NOOP_METER),
    isLeading: () => true,
    metricsEveryMs: config.metricsEveryMs,
    drainMs: config.drainMs,
    backoff: { baseMs: 50, capMs: 200, factor: 2, jitter: 0 },
  });
  const term = new AbortController();
  const over = reporter.run(term.signal);
  const end = async (): Promise<void> => {
    term.abort(cancelled());
    await over;
    sink.close();
  };
  endings.push(end);
  const put = (name: string, phase: "available" | "degraded"): void =>
    void classes.put({
      apiVersion: "oaas.io/v1alpha1",
      kind: "ClassRuntime",
      metadata: { name, namespace: "shop", annotations: { "oaas.io/correlation-id": `call-${name}` } },
      spec: { odgm_config: { collections: ["c"] } },
      status: { phase, odgm_cluster_status: { ready_replicas: 1 } },
    });
  return { put, end };
}

const last = (pm: FakePackageManager, id: string): string | undefined =>
  pm.reports.findLast(({ deploymentId }) => deploymentId === id)?.status?.status;

test("states with their origin and correlation id, and numbers", async () => {
  const pm = await scriptedPm();
  const { put } = reporting({ OPRC_CRM_PM_URL: `http://127.0.0.1:${pm.port}` });
  put("a", "available");
  await eventually(() => last(pm, "a") === "RUNNING");
  expect(pm.reports[0]?.origin).toMatchObject({ cluster: "here", sequence: 1n });
  expect(pm.reports[0]?.status?.classRuntime?.namespace).toBe("shop");
  expect(pm.calls[0]?.correlationId).toBe("call-a");
  await eventually(() => pm.metrics.length > 0, { timeoutMs: 60_000 });
  expect(pm.metrics[0]).toMatchObject({
    deploymentId: "a",
    samples: [{ component: "odgm", metric: "replicas", value: 1 }],
  });
});

test("a package manager that is not there yet is told everything when it comes, and what changed when it comes back", async () => {
  const [port = 0] = await freePorts(1);
  const { put } = reporting({ OPRC_CRM_PM_URL: `http://127.0.0.1:${port}` });
  put("a", "available");
  put("b", "available");
  put("a", "degraded");
  const first = await startFakePackageManager({ port });
  await eventually(() => last(first, "a") === "DOWN" && last(first, "b") === "RUNNING", { timeoutMs: 60_000 });
  expect(first.reports.filter(({ deploymentId }) => deploymentId === "a")).toHaveLength(1);
  await first.close();
  put("b", "degraded");
  put("a", "available");
  const second = await scriptedPm({ port });
  await eventually(() => last(second, "a") === "RUNNING" && last(second, "b") === "DOWN", { timeoutMs: 60_000 });
});

test.each(["fail", "hang"] as const)(
  "one that %s is tried again; the newest state arrives, no older one after it",
  async (mood) => {
    const pm = await scriptedPm();
    pm.behaviour = mood;
    const { put } = reporting({
      OPRC_CRM_PM_URL: `http://127.0.0.1:${pm.port}`,
      // Only where nothing else ends a call: a busy machine would have reports sent twice.
      ...(mood === "hang" ? { OPRC_CRM_PM_TIMEOUT_SECS: "300ms" } : {}),
    });
    put("a", "degraded");
    await eventually(() => pm.calls.length >= 2, { timeoutMs: 60_000 });
    put("a", "available");
    pm.behaviour = "accept";
    await eventually(() => last(pm, "a") === "RUNNING", { timeoutMs: 60_000 });
    const sequence = pm.reports.map(({ origin }) => origin?.sequence ?? 0n);
    expect(sequence).toEqual(sequence.toSorted((a, b) => Number(a - b)));
  },
);

test("a token that is replaced counts for the next try", async () => {
  const pm = await scriptedPm();
  pm.token = "new";
  let token = "old";
  const { put } = reporting({ OPRC_CRM_PM_URL: `http://127.0.0.1:${pm.port}` }, () => token);
  put("a", "available");
  await eventually(() => pm.calls.length >= 2, { timeoutMs: 60_000 });
  expect(pm.reports).toEqual([]);
  token = "new";
  await eventually(() => last(pm, "a") === "RUNNING", { timeoutMs: 60_000 });
});

test("by TLS, showing a certificate that is renewed while the package manager refuses the old one", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-pm-tls-"));
  endings.push(async () => rmSync(folder, { recursive: true }));
  const file = (name: string, content: string): string => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const servers = makeAuthority("servers");
  const clients = makeAuthority("clients");
  const server = servers.issue({ commonName: "pm", hosts: ["localhost"] });
  const stranger = makeAuthority("others").issue({ commonName: "crm" });
  const friend = clients.issue({ commonName: "crm" });
  const pm = await scriptedPm({
    tls: {
      cert: server.certificate,
      key: server.key,
      ca: clients.certificate,
      requestCert: true,
      rejectUnauthorized: true,
    },
  });
  const { put } = reporting({
    OPRC_CRM_PM_URL: `https://localhost:${pm.port}`,
    OPRC_CRM_PM_TLS_CA_FILE: file("ca.crt", servers.certificate),
    OPRC_CRM_PM_TLS_CERT_FILE: file("crm.crt", stranger.certificate),
    OPRC_CRM_PM_TLS_KEY_FILE: file("crm.key", stranger.key),
  });
  put("a", "available");
  file("crm.key", friend.key);
  file("crm.crt", friend.certificate);
  await eventually(() => last(pm, "a") === "RUNNING", { timeoutMs: 60_000 });
  expect(pm.calls[0]?.peer.certificate?.commonName).toBe("crm");
});

test("stopping tells what still waits", async () => {
  const pm = await scriptedPm();
  const { put, end } = reporting({ OPRC_CRM_PM_URL: `http://127.0.0.1:${pm.port}` });
  put("a", "available");
  await end();
  expect(last(pm, "a")).toBe("RUNNING");
});
