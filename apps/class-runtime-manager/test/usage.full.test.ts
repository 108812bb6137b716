import type { KubeObject } from "@oaas/kube-core";
import { realAmbient } from "@oaas/foundation/real";
import {
  describeOnTarget,
  eventually,
  kwokUsageConfigs,
  startMetricsServer,
  type MetricsServerUnderTest,
  type TargetSuite,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { StoredClass } from "../src/classes/ports.ts";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { createKubeUsageReader } from "../src/grpc/cluster/kube-usage-reader.ts";
import { classManifest, ControllerFixture } from "./support/controller-fixture.ts";

const NAMESPACE = "shop";
/** Two readings of metrics-server, ten seconds apart, on a busy machine. */
const TIMEOUT_MS = 180_000;

const METRICS: TargetSuite = {
  needs: ["kubectl", "kwok-metrics", "metrics-server"],
  realOnly: "metrics-server extends a real API server",
};

describeOnTarget("usage through the real metrics-server", METRICS, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;
  let server: MetricsServerUnderTest;
  let object: StoredClass;

  beforeAll(async () => {
    fixture = await ControllerFixture.start({ kwokConfigs: kwokUsageConfigs() });
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    crm = await fixture.startController({ namespaces: [NAMESPACE] });
    await fixture.apply(NAMESPACE, classManifest("plain", { selected_template: "dev", state_spec: {} }));
    await fixture.waitForPhase(NAMESPACE, "plain", "available");
    object = (await fixture.get<KubeObject>(NAMESPACE, "classruntime", "plain")) as unknown as StoredClass;
  });
  afterAll(async () => {
    await server?.close();
    await fixture?.close();
  });

  const podsOfClass = (): readonly string[] =>
    crm.pods.podsOf(NAMESPACE, "plain").map(({ metadata }) => metadata.name ?? "");
  const annotate = (pod: string, cpu: string, memory: string): Promise<string> =>
    fixture.kubectl([
      ...["annotate", "pod", pod, "-n", NAMESPACE, "--overwrite"],
      ...[`kwok.x-k8s.io/usage-cpu=${cpu}`, `kwok.x-k8s.io/usage-memory=${memory}`],
    ]);

  test("returns the CPU and memory that the kubelet reports for each component, as kubectl top does", async () => {
    await eventually(() => podsOfClass().length === 2, { what: "the pods of function and state store" });
    for (const pod of podsOfClass()) {
      const isStore = pod.includes("odgm");
      await annotate(pod, isStore ? "20m" : "150m", isStore ? "64Mi" : "128Mi");
    }
    server = await startMetricsServer(fixture.cluster);
    const read = createKubeUsageReader({
      client: fixture.createClient(),
      ambient: realAmbient,
      namespaces: { served: [NAMESPACE] },
      classes: () => [object],
      podsOf: (namespace, owner) => crm.pods.podsOf(namespace, owner),
    });
    await eventually(
      async () => {
        const usage = await read(AbortSignal.timeout(30_000));
        expect(usage).toEqual([
          expect.objectContaining({ component: "f", pods: 1, memoryBytes: 128 * 2 ** 20 }),
          expect.objectContaining({ component: "odgm", pods: 1, memoryBytes: 64 * 2 ** 20 }),
        ]);
        // metrics-server derives a rate from two readings of a counter.
        expect(usage[0]?.cpuMillicores).toBeGreaterThan(100);
        expect(usage[0]?.cpuMillicores).toBeLessThan(200);
        expect(usage[1]?.cpuMillicores).toBeLessThan(40);
      },
      { timeoutMs: TIMEOUT_MS, what: "the usage of both components" },
    );
    expect(await fixture.kubectl(`top pods -n ${NAMESPACE} --no-headers`)).toContain("128Mi");
  });
});
