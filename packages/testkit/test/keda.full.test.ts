import { afterAll, beforeAll, expect, it } from "vitest";
import {
  describeWith,
  eventually,
  startKeda,
  startKubernetes,
  type KedaUnderTest,
  type KubernetesUnderTest,
} from "../src/index.ts";

describeWith(["kubernetes", "kwok", "keda-crds", "keda"], "a real KEDA operator", () => {
  let cluster: KubernetesUnderTest;
  let keda: KedaUnderTest;

  beforeAll(async () => {
    cluster = await startKubernetes({ controllerManager: true, scheduler: true, kwokNodes: 1 });
    keda = await startKeda(cluster);
  });
  afterAll(async () => {
    await keda?.close();
    await cluster?.close();
  });

  const applyMinimum = (minReplicaCount: number) =>
    cluster.kubectl(["apply", "-f", "-"], {
      stdin: JSON.stringify({
        apiVersion: "keda.sh/v1alpha1",
        kind: "ScaledObject",
        metadata: { name: "web" },
        spec: {
          scaleTargetRef: { name: "web" },
          minReplicaCount,
          maxReplicaCount: 5,
          triggers: [{ type: "cpu", metricType: "Utilization", metadata: { value: "60" } }],
        },
      }),
    });
  const read = async (path: string, ...object: string[]): Promise<string> =>
    (await cluster.kubectl(["get", ...object, "-o", `jsonpath=${path}`])).stdout;
  const hpaMinimum = (): Promise<string> => read("{.spec.minReplicas}", "hpa", "keda-hpa-web");

  it("creates a horizontal pod autoscaler that follows the minimum", async () => {
    const created = await cluster.kubectl(["create", "deployment", "web", "--image=example.test/web:1"]);
    expect(created).toMatchObject({ exitCode: 0 });
    await cluster.kubectl(["set", "resources", "deployment/web", "--requests=cpu=100m"]);
    expect(await applyMinimum(2)).toMatchObject({ exitCode: 0 });
    await eventually(async () => (await hpaMinimum()) === "2", { timeoutMs: 60_000, what: "the minimum of the HPA" });
    await applyMinimum(3);
    await eventually(async () => (await hpaMinimum()) === "3", { timeoutMs: 60_000, what: "the raised minimum" });
    const replicas = (): Promise<string> => read("{.spec.replicas}", "deployment", "web");
    await eventually(async () => (await replicas()) === "3", { timeoutMs: 60_000, what: "three replicas" });
  });

  it("leaves no CRDs and no process after uninstall", async () => {
    await keda.uninstall();
    expect((await cluster.kubectl(["get", "crd", "-o", "name"])).stdout).toBe("");
    expect(keda.process.exit).toBeDefined();
  });
});
