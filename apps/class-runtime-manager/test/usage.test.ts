import type { KubeObject } from "@oaas/kube-core";
import { realAmbient } from "@oaas/foundation/real";
import { describeOnTarget, eventually, startMetricsApi, type MetricsApi } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { StoredClass } from "../src/classes/ports.ts";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { createKubeUsageReader, type UsageReader } from "../src/grpc/cluster/kube-usage-reader.ts";
import { classManifest, ControllerFixture } from "./support/controller-fixture.ts";

const NAMESPACE = "shop";

describeOnTarget(
  "usage through the metrics API",
  { needs: ["kubectl"], realOnly: "the embedded API server does not aggregate APIs" },
  () => {
    let fixture: ControllerFixture;
    let crm: ClassManager;
    let api: MetricsApi | undefined;
    let object: StoredClass;

    beforeAll(async () => {
      fixture = await ControllerFixture.start();
      await fixture.kubectl(`create namespace ${NAMESPACE}`);
      crm = await fixture.startController({ namespaces: [NAMESPACE] });
      await fixture.apply(NAMESPACE, classManifest("plain", { selected_template: "dev", state_spec: {} }));
      await fixture.waitForPhase(NAMESPACE, "plain", "available");
      object = (await fixture.get<KubeObject>(NAMESPACE, "classruntime", "plain")) as unknown as StoredClass;
    });
    afterAll(async () => {
      await api?.close();
      await fixture.close();
    });

    /** A reader without an earlier reading. */
    const createReader = (): UsageReader =>
      createKubeUsageReader({
        client: fixture.createClient(),
        ambient: realAmbient,
        namespaces: { served: [NAMESPACE] },
        classes: () => [object],
        podsOf: (namespace, owner) => crm.pods.podsOf(namespace, owner),
      });
    const signal = (): AbortSignal => AbortSignal.timeout(30_000);

    test("says what is missing without the metrics API", async () => {
      await expect(createReader()(signal())).rejects.toThrow("install metrics-server");
    });

    test("returns CPU and memory of each component", async () => {
      const podsOfClass = () => crm.pods.podsOf(NAMESPACE, "plain").map(({ metadata }) => metadata.name ?? "");
      await eventually(() => podsOfClass().length === 2, { what: "the pods of function and state store" });
      api = await startMetricsApi(fixture.cluster, () =>
        podsOfClass().map((pod) => ({ pod, cpuMillicores: pod.includes("odgm") ? 20 : 150, memoryBytes: 2 ** 20 })),
      );
      const usage = await createReader()(signal());
      expect(usage).toEqual([
        expect.objectContaining({ component: "f", pods: 1, cpuMillicores: 150, memoryBytes: 2 ** 20 }),
        expect.objectContaining({ component: "odgm", pods: 1, cpuMillicores: 20, maxMemoryBytes: 2 ** 20 }),
      ]);
    });
  },
);
