import path from "node:path";
import { componentFile, describeWith, startKubernetes, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RULES } from "../../../tools/generate/monitoring/monitoring.ts";

const MANIFEST = path.resolve(import.meta.dirname, "../../../deploy/monitoring/prometheus/prometheus-rule.yaml");

describeWith(["kubernetes", "prometheus-operator-crds"], "the PrometheusRule", () => {
  let kube: KubernetesUnderTest;
  beforeAll(async () => {
    const crd = path.join(componentFile("prometheus-operator-crds"), "monitoring.coreos.com_prometheusrules.yaml");
    kube = await startKubernetes({ crdFiles: [crd] });
  });
  afterAll(() => kube?.close());

  test("is accepted by an API server with the CRD of the operator, and kept in full", async () => {
    const applied = await kube.kubectl(["apply", "--server-side", "--validate=strict", "-f", MANIFEST]);
    expect(applied).toMatchObject({ stderr: "", exitCode: 0 });
    const { stdout } = await kube.kubectl(["get", "prometheusrules", "oaas", "-o", "json"]);
    const stored = JSON.parse(stdout) as { spec: { groups: readonly { name: string; rules: readonly unknown[] }[] } };
    const shape = (groups: readonly { name: string; rules: readonly unknown[] }[]) =>
      groups.map(({ name, rules }) => [name, rules.length]);
    expect(shape(stored.spec.groups)).toEqual(shape(RULES));
  });
});
