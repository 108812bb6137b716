import type { ClassRuntime } from "@oaas/contracts/crd";
import type { KubeObject } from "@oaas/kube-core";
import { addMonitorKinds, describeOnTarget, eventually, removeMonitorKinds } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { classManifest, ControllerFixture, FACTS } from "./support/controller-fixture.ts";

const NAMESPACE = "classes";
const SCRAPED = { scrapeKind: "auto", matchLabels: { release: "prometheus" } } as const;
const withMetrics = { ...FACTS, features: { ...FACTS.features, prometheus: true }, monitors: SCRAPED };

const functionNamed = (key: string) => ({
  function_key: key,
  provision_config: { container_image: "example.test/fn:1", port: 8080 },
});

type Status = NonNullable<ClassRuntime["status"]>;

const disabledIn = (status: Status) => status.conditions?.find(({ type }) => type === "PrometheusDisabled");
const monitorRefs = (status: Status) =>
  (status.resource_refs ?? []).filter(({ kind }) => kind.endsWith("Monitor")).map(({ name }) => name);

describeOnTarget("monitors", { needs: ["kubectl", "prometheus-operator-crds"] }, () => {
  let fixture: ControllerFixture;
  let running: ClassManager;

  // Kinds are discovered so rarely that only the watch of the definitions can find one.
  const start = (facts: typeof FACTS): Promise<ClassManager> =>
    fixture.startController({ namespaces: [NAMESPACE], facts, kindDiscoveryMs: 3_600_000 });

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    running = await start(withMetrics);
  });
  afterAll(async () => {
    await fixture.close();
  });

  const scraped = async (): Promise<readonly unknown[]> => {
    const { items } = JSON.parse(await fixture.kubectl(`get services -n ${NAMESPACE} -o json`)) as {
      items: readonly KubeObject[];
    };
    return items
      .filter(({ metadata }) => metadata.annotations?.["prometheus.io/scrape"] === "true")
      .map(({ metadata }) => metadata.name);
  };
  const generations = (): Promise<string> =>
    fixture.kubectl([
      ...`get deployments,statefulsets -n ${NAMESPACE} -o`.split(" "),
      "jsonpath={range .items[*]}{.metadata.name}:{.metadata.generation} {end}",
    ]);

  test("annotates Services and reports the missing kinds without the operator", async () => {
    const functions = [functionNamed("a"), functionNamed("b")];
    await fixture.apply(
      NAMESPACE,
      classManifest("order", { functions, state_spec: {}, selected_template: "statefulset" }),
    );
    const status = await fixture.waitForStatus(NAMESPACE, "order", "available", ({ phase }) => phase === "available");
    expect(disabledIn(status)).toMatchObject({ status: "True", reason: "MissingCRDs" });
    expect(monitorRefs(status)).toEqual([]);
    expect(await scraped()).toEqual(["order-fn-0", "order-fn-1", "order-odgm-svc"]);
  });

  test("creates valid monitors when the operator is installed, without restarting pods", async () => {
    const before = await generations();
    await addMonitorKinds(fixture.cluster.kubectl);
    const status = await fixture.waitForStatus(
      NAMESPACE,
      "order",
      "monitors",
      (one) => disabledIn(one)?.status === "False" && one.phase === "available",
    );
    expect(disabledIn(status)).toMatchObject({ reason: "MonitorsCreated" });
    expect(monitorRefs(status)).toEqual(["order-odgm-svcmon", "order-svcmon"]);
    expect(await scraped()).toEqual([]);
    expect(await generations()).toBe(before);
    const monitor = await fixture.get<KubeObject>(NAMESPACE, "servicemonitor", "order-svcmon");
    expect(monitor?.metadata.labels).toMatchObject({ release: "prometheus" });
    expect(monitor?.metadata.ownerReferences).toMatchObject([{ kind: "ClassRuntime", name: "order" }]);
  });

  test("selects one Service of each workload", async () => {
    const monitor = await fixture.get<Monitor>(NAMESPACE, "servicemonitor", "order-svcmon");
    const { matchLabels = {}, matchExpressions = [] } = monitor?.spec.selector ?? {};
    const selector = [
      ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
      ...matchExpressions.map(({ key }) => `!${key}`),
    ].join(",");
    const names = await fixture.kubectl(["get", "services", "-n", NAMESPACE, "-l", selector, "-o", "name"]);
    expect(names.trim().split("\n")).toEqual(["service/order-fn-0", "service/order-fn-1"]);
  });

  test("writes nothing while nothing changes", async () => {
    const version = async () =>
      (await fixture.get<KubeObject>(NAMESPACE, "servicemonitor", "order-svcmon"))?.metadata.resourceVersion;
    const before = await version();
    await fixture.kubectl(`annotate crt order -n ${NAMESPACE} example.test/touched=yes`);
    await fixture.waitForPhase(NAMESPACE, "order", "available");
    expect(await version()).toBe(before);
  });

  test("prunes the monitor of functions that are removed", async () => {
    await fixture.apply(NAMESPACE, classManifest("order", { functions: [], state_spec: {} }));
    await eventually(
      async () =>
        expect(await fixture.listOwned(NAMESPACE, "servicemonitors", "order")).toEqual([
          "servicemonitor.monitoring.coreos.com/order-odgm-svcmon",
        ]),
      { timeoutMs: 60_000, what: "the monitor to be pruned" },
    );
  });

  test("deletes monitors while metrics are disabled", async () => {
    const monitors = () => fixture.listOwned(NAMESPACE, "servicemonitors", "order");
    const restart = async (facts: typeof FACTS, count: number): Promise<void> => {
      await running.manager.stop();
      running = await start(facts);
      await eventually(async () => expect(await monitors()).toHaveLength(count), {
        timeoutMs: 60_000,
        what: `${count} monitors`,
      });
    };
    await restart(FACTS, 0);
    await fixture.waitForStatus(NAMESPACE, "order", "no condition", (one) => disabledIn(one) === undefined);
    await restart(withMetrics, 1);
  });

  test("reports kinds that are removed, and annotates Services again", async () => {
    await removeMonitorKinds(fixture.cluster.kubectl);
    const status = await fixture.waitForStatus(
      NAMESPACE,
      "order",
      "the loss of the kinds",
      (one) => disabledIn(one)?.status === "True",
    );
    expect(disabledIn(status)).toMatchObject({ reason: "MissingCRDs" });
    await eventually(async () => expect(await scraped()).toEqual(["order-odgm-svc"]), {
      timeoutMs: 60_000,
      what: "the annotations",
    });
  });
});

interface Monitor extends KubeObject {
  readonly spec: {
    readonly selector: {
      readonly matchLabels: Readonly<Record<string, string>>;
      readonly matchExpressions: readonly { readonly key: string }[];
    };
  };
}
