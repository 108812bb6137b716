import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { loadConfig } from "@oaas/config";
import { cancelled } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import { CertificateExpiry } from "@oaas/rpc";
import { eventually, freePorts, makeAuthority } from "@oaas/testkit";
import { afterEach, expect, test } from "vitest";
import { createPmReportSink } from "../src/adapters/pm-report-sink.ts";
import { crmConfig } from "../src/config.ts";
import { MemoryClasses } from "../src/classes/testing/memory-classes.ts";
import { PmReporter, reportingMetrics } from "../src/reporting/pm-reporter.ts";
import { startFakePackageManager, type FakePackageManager } from "./support/fake-package-manager.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function startPm(options: Parameters<typeof startFakePackageManager>[0] = {}): Promise<FakePackageManager> {
  const pm = await startFakePackageManager(options);
  cleanups.push(() => pm.close());
  return pm;
}

/** Starts a reporter over classes in memory. */
function startReporter(env: Record<string, string>, token: () => string | undefined = () => undefined) {
  const { pm: config } = loadConfig(crmConfig, {
    env: { OPRC_CRM_PM_METRICS_INTERVAL_SECS: "1s", ...env },
  });
  const classes = new MemoryClasses();
  const sink = createPmReportSink({
    config: { ...config, url: config.url ?? "" },
    clock: realAmbient.clock,
    token,
    expiry: new CertificateExpiry(NOOP_METER),
  });
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
  const done = reporter.run(term.signal);
  const end = async (): Promise<void> => {
    term.abort(cancelled());
    await done;
    sink.close();
  };
  cleanups.push(end);
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

const lastStatus = (pm: FakePackageManager, id: string): string | undefined =>
  pm.reports.findLast(({ deploymentId }) => deploymentId === id)?.status?.status;

test("sends status with origin and correlation id, and metrics", async () => {
  const pm = await startPm();
  const { put } = startReporter({ OPRC_CRM_PM_URL: `http://127.0.0.1:${pm.port}` });
  put("a", "available");
  await eventually(() => lastStatus(pm, "a") === "RUNNING");
  expect(pm.reports[0]?.origin).toMatchObject({ cluster: "here", sequence: 1n });
  expect(pm.reports[0]?.status?.classRuntime?.namespace).toBe("shop");
  expect(pm.calls[0]?.correlationId).toBe("call-a");
  await eventually(() => pm.metrics.length > 0, { timeoutMs: 60_000 });
  expect(pm.metrics[0]).toMatchObject({
    deploymentId: "a",
    samples: [{ component: "odgm", metric: "replicas", value: 1 }],
  });
});

test("reports every class when the package manager appears, and the changes after an outage", async () => {
  const [port = 0] = await freePorts(1);
  const { put } = startReporter({ OPRC_CRM_PM_URL: `http://127.0.0.1:${port}` });
  put("a", "available");
  put("b", "available");
  put("a", "degraded");
  const first = await startFakePackageManager({ port });
  await eventually(() => lastStatus(first, "a") === "DOWN" && lastStatus(first, "b") === "RUNNING", {
    timeoutMs: 60_000,
  });
  expect(first.reports.filter(({ deploymentId }) => deploymentId === "a")).toHaveLength(1);
  await first.close();
  put("b", "degraded");
  put("a", "available");
  const second = await startPm({ port });
  await eventually(() => lastStatus(second, "a") === "RUNNING" && lastStatus(second, "b") === "DOWN", {
    timeoutMs: 60_000,
  });
});

test.each(["fail", "hang"] as const)(
  "retries while the package manager %ss, and sends the newest state last",
  async (behaviour) => {
    const pm = await startPm();
    pm.behaviour = behaviour;
    const { put } = startReporter({
      OPRC_CRM_PM_URL: `http://127.0.0.1:${pm.port}`,
      // Only for hanging calls: a short timeout on a busy machine would duplicate reports.
      ...(behaviour === "hang" ? { OPRC_CRM_PM_TIMEOUT_SECS: "300ms" } : {}),
    });
    put("a", "degraded");
    await eventually(() => pm.calls.length >= 2, { timeoutMs: 60_000 });
    put("a", "available");
    pm.behaviour = "accept";
    await eventually(() => lastStatus(pm, "a") === "RUNNING", { timeoutMs: 60_000 });
    const sequence = pm.reports.map(({ origin }) => origin?.sequence ?? 0n);
    expect(sequence).toEqual(sequence.toSorted((a, b) => Number(a - b)));
  },
);

test("uses a replaced token for the next attempt", async () => {
  const pm = await startPm();
  pm.token = "new";
  let token = "old";
  const { put } = startReporter({ OPRC_CRM_PM_URL: `http://127.0.0.1:${pm.port}` }, () => token);
  put("a", "available");
  await eventually(() => pm.calls.length >= 2, { timeoutMs: 60_000 });
  expect(pm.reports).toEqual([]);
  token = "new";
  await eventually(() => lastStatus(pm, "a") === "RUNNING", { timeoutMs: 60_000 });
});

test("loads a renewed client certificate after the package manager rejected the old one", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-pm-tls-"));
  cleanups.push(async () => rmSync(folder, { recursive: true }));
  const file = (name: string, content: string): string => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const servers = makeAuthority("servers");
  const clients = makeAuthority("clients");
  const server = servers.issue({ commonName: "pm", hosts: ["localhost"] });
  const untrusted = makeAuthority("others").issue({ commonName: "crm" });
  const trusted = clients.issue({ commonName: "crm" });
  const pm = await startPm({
    tls: {
      cert: server.certificate,
      key: server.key,
      ca: clients.certificate,
      requestCert: true,
      rejectUnauthorized: true,
    },
  });
  const { put } = startReporter({
    OPRC_CRM_PM_URL: `https://localhost:${pm.port}`,
    OPRC_CRM_PM_TLS_CA_FILE: file("ca.crt", servers.certificate),
    OPRC_CRM_PM_TLS_CERT_FILE: file("crm.crt", untrusted.certificate),
    OPRC_CRM_PM_TLS_KEY_FILE: file("crm.key", untrusted.key),
  });
  put("a", "available");
  file("crm.key", trusted.key);
  file("crm.crt", trusted.certificate);
  await eventually(() => lastStatus(pm, "a") === "RUNNING", { timeoutMs: 60_000 });
  expect(pm.calls[0]?.peer.certificate?.commonName).toBe("crm");
});

test("sends pending reports when it stops", async () => {
  const pm = await startPm();
  const { put, end } = startReporter({ OPRC_CRM_PM_URL: `http://127.0.0.1:${pm.port}` });
  put("a", "available");
  await end();
  expect(lastStatus(pm, "a")).toBe("RUNNING");
});
