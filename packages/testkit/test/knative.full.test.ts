import { afterAll, beforeAll, expect, it } from "vitest";
import {
  describeWith,
  eventually,
  startKnative,
  startKubernetes,
  type KnativeUnderTest,
  type KubernetesUnderTest,
} from "../src/index.ts";

describeWith(["kubernetes", "kwok", "knative-manifests", "knative"], "a real Knative", () => {
  let cluster: KubernetesUnderTest;
  let knative: KnativeUnderTest;

  beforeAll(async () => {
    cluster = await startKubernetes({ controllerManager: true, scheduler: true, kwokNodes: 1 });
    knative = await startKnative(cluster);
  });
  afterAll(async () => {
    await knative?.close();
    await cluster?.close();
  });

  const apply = (spec: object) =>
    cluster.kubectl(["apply", "-f", "-"], {
      stdin: JSON.stringify({ apiVersion: "serving.knative.dev/v1", kind: "Service", metadata: { name: "web" }, spec }),
    });
  const withImage = (image: string): object => ({ template: { spec: { containers: [{ image }] } } });
  const ready = async (): Promise<string> =>
    (await cluster.kubectl(["get", "ksvc", "web", "-o", 'jsonpath={.status.conditions[?(@.type=="Ready")].status}']))
      .stdout;

  it("runs a Service in a pod with its queue proxy", async () => {
    expect(await apply(withImage("dev.local/web:1"))).toMatchObject({ exitCode: 0 });
    await eventually(async () => (await ready()) === "True", { timeoutMs: 90_000, what: "the Service to be ready" });
    const names = "jsonpath={.items[*].spec.containers[*].name}";
    const { stdout } = await cluster.kubectl(["get", "pods", "-l", "serving.knative.dev/service=web", "-o", names]);
    expect(stdout).toBe("user-container queue-proxy");
  });

  it("rejects an invalid Service by its webhook", async () => {
    const { exitCode, stderr } = await apply({ template: { spec: { containers: [{ image: "not an image" }] } } });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('admission webhook "validation.webhook.serving.knative.dev" denied the request');
  });

  it("does not start twice on one machine", async () => {
    await expect(startKnative(cluster)).rejects.toThrow(/needs port 8080/);
    expect(knative.processes.map(({ exit }) => exit)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("leaves no CRDs and processes after uninstall", async () => {
    await knative.uninstall();
    expect((await cluster.kubectl(["get", "crd", "-o", "name"])).stdout).toBe("");
    expect(knative.processes.every(({ exit }) => exit !== undefined)).toBe(true);
  });
});
