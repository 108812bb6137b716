import path from "node:path";
import { LifecyclePhase } from "@oaas/models";
import {
  componentFile,
  describeWith,
  eventually,
  runCommand,
  startKubeStateMetrics,
  startPrometheus,
  type KubeStateMetricsUnderTest,
  type PrometheusUnderTest,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { classManifest, ControllerFixture } from "./support/controller-fixture.ts";

const GITOPS = path.resolve(import.meta.dirname, "../../../deploy/gitops");
const NAMESPACE = "classes";
const READER = { name: "kube-state-metrics", token: "kube-state-metrics-token" };

const functionNamed = (key: string, min_scale: number): object => ({
  function_key: key,
  provision_config: { container_image: "example.test/fn:1", port: 8080, min_scale },
});

describeWith(
  ["kubernetes", "kwok", "prometheus", "kube-state-metrics"],
  "kube-state-metrics with our configuration",
  () => {
    let fixture: ControllerFixture;
    let exporter: KubeStateMetricsUnderTest;
    let prometheus: PrometheusUnderTest;

    beforeAll(async () => {
      fixture = await ControllerFixture.start({ users: [READER] });
      await fixture.kubectl(`create namespace ${NAMESPACE}`);
      await fixture.startController({ namespaces: [NAMESPACE] });
      await fixture.kubectl(["apply", "-f", path.join(GITOPS, "kube-state-metrics-role.yaml")]);
      await fixture.kubectl(
        `create clusterrolebinding reads-classes --clusterrole=oaas-kube-state-metrics --user=${READER.name}`,
      );
      exporter = await startKubeStateMetrics(fixture.cluster, {
        configFile: path.join(GITOPS, "kube-state-metrics.yaml"),
        token: READER.token,
      });
      prometheus = await startPrometheus({
        config: {
          scrape_configs: [
            {
              job_name: "kube-state-metrics",
              scrape_interval: "1s",
              honor_labels: true,
              static_configs: [{ targets: [new URL(exporter.url).host] }],
            },
          ],
        },
      });
    });
    afterAll(async () => {
      await prometheus?.close();
      await exporter?.close();
      await fixture?.close();
    });

    /** The values of an expression by the values of one label. */
    const valuesBy = async (label: string, expression: string): Promise<Readonly<Record<string, number | undefined>>> =>
      Object.fromEntries(
        (await prometheus.query(expression)).map(({ labels, points }) => [labels[label] ?? "", points[0]?.value]),
      );
    const become = (label: string, expression: string, expected: Readonly<Record<string, number>>): Promise<void> =>
      eventually(async () => expect(await valuesBy(label, expression)).toEqual(expected), {
        timeoutMs: 60_000,
        what: expression,
      });

    test("exports the phase, conditions, generations and replicas of a class", async () => {
      const functions = [functionNamed("place", 2), functionNamed("cancel", 1)];
      await fixture.apply(NAMESPACE, classManifest("shop", { functions }));
      await fixture.waitForPhase(NAMESPACE, "shop", "available");
      const all = Object.values(LifecyclePhase).map((phase) => [phase, phase === "available" ? 1 : 0] as const);
      await become("phase", `oaas_class_runtime_phase{name="shop",namespace="${NAMESPACE}"}`, Object.fromEntries(all));
      await become("function", 'oaas_class_runtime_function_ready_replicas{name="shop"}', { place: 2, cancel: 1 });
      await become("name", 'oaas_class_runtime_condition{name="shop",type="Ready"}', { shop: 1 });
      await become("name", 'oaas_class_runtime_condition{name="shop",type="Progressing"}', { shop: 0 });
      await become("name", 'oaas_class_runtime_generation{name="shop"}', { shop: 1 });
      await become("name", 'oaas_class_runtime_observed_generation{name="shop"}', { shop: 1 });
    });

    test("exports every condition of the status with its reason", async () => {
      const status = await fixture.status(NAMESPACE, "shop");
      const expected = (status?.conditions ?? []).map(({ type, reason = "" }) => `${type} ${reason}`);
      expect(expected.length).toBeGreaterThan(3);
      const series = await prometheus.query('oaas_class_runtime_condition{name="shop"}');
      expect(series.map(({ labels }) => `${labels["type"]} ${labels["reason"] ?? ""}`).toSorted()).toEqual(
        expected.toSorted(),
      );
    });

    test("follows a class into degraded with the reason, and out of it", async () => {
      const functions = [functionNamed("place", 2)];
      await fixture.apply(NAMESPACE, classManifest("shop", { functions, selected_template: "none" }));
      await become("phase", 'oaas_class_runtime_phase{name="shop"} == 1', { degraded: 1 });
      await become("reason", 'oaas_class_runtime_condition{name="shop",type="Degraded"}', { TemplateMissing: 1 });
      await become("name", 'oaas_class_runtime_condition{name="shop",type="Ready"}', { shop: 0 });
      await fixture.apply(NAMESPACE, classManifest("shop", { functions }));
      await become("phase", 'oaas_class_runtime_phase{name="shop"} == 1', { available: 1 });
      await become("name", 'oaas_class_runtime_generation{name="shop"} - oaas_class_runtime_observed_generation', {
        shop: 0,
      });
    });

    test("has the syntax and names that promtool accepts", async () => {
      const { stdout, stderr } = await runCommand(componentFile("promtool"), ["check", "metrics"], {
        stdin: await exporter.read(),
      });
      expect(`${stdout}${stderr}`).toBe("");
    });

    test("drops the series of a deleted class", async () => {
      await fixture.kubectl(`delete crt shop -n ${NAMESPACE}`);
      await become("name", '{__name__=~"oaas_class_runtime_.+",name="shop"}', {});
    });

    test("needs no more permissions than its role", async () => {
      expect(await exporter.process.logTail(200)).not.toMatch(/forbidden/i);
    });
  },
);
