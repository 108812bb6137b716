import { describeWith, eventually, startKubernetes, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { classRuntime, crdManifest, KINDS } from "../../src/crd/index.ts";
import { classRuntimeSample } from "../../src/crd/testing/samples.ts";
import { createRaw, served, succeed, TRIAL } from "./api-server.ts";

const { apiVersion, kind } = classRuntimeSample;
const identity = { apiVersion, kind, metadata: { name: "taken-over" } };
const strict = crdManifest(KINDS[0]);

/** Our CRD with a schema that lets everything pass, as a stand-in for the Rust manager's. */
function laxCrd(): object {
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: open, status: open } } };
  const versions = strict.spec.versions.map((version) => ({ ...version, schema }));
  return { ...strict, spec: { ...strict.spec, versions } };
}

describeWith(["kubernetes", "etcd", "kubectl"], "an object the Rust manager wrote, once our CRD is installed", () => {
  let cluster: KubernetesUnderTest;

  const kubectl = (args: readonly string[], input?: object) =>
    succeed(cluster, args, input === undefined ? undefined : JSON.stringify(input));
  const read = async () => JSON.parse(await kubectl(["get", "crt/taken-over", "-o", "json"])) as { status: object };
  const applyStatus = (status: object) =>
    kubectl(["apply", "--server-side", "--force-conflicts", "--subresource=status", "-f", "-"], {
      ...identity,
      status,
    });

  beforeAll(async () => {
    cluster = await startKubernetes();
    await kubectl(["create", "namespace", TRIAL]);
    await kubectl(["apply", "--server-side", "-f", "-"], laxCrd());
    await served(cluster, strict.metadata.name);

    const provision = { container_image: "registry.local/order:1", min_scale: 5, max_scale: 2 };
    const spec = { functions: [{ function_key: "Order.place", provision_config: provision }] };
    const status = { phase: "progressing", observed_generation: 1, nfr_recommendations: { replicas: 3, cpu: 650.5 } };
    await kubectl(["apply", "-f", "-"], { ...identity, spec });
    await kubectl([
      "patch",
      "crt/taken-over",
      "--subresource=status",
      "--type=merge",
      "-p",
      JSON.stringify({ status }),
    ]);

    await kubectl(["apply", "--server-side", "-f", "-"], strict);
    const wrong = JSON.stringify({ ...classRuntimeSample, spec: {} });
    await eventually(async () => (await createRaw(cluster, wrong)).status === 422, { what: "our schema being served" });
  });
  afterAll(async () => {
    await cluster?.close();
  });

  test("reads its recommendations", async () => {
    const { status } = classRuntime.pick({ status: true }).parse(await read());
    expect(status?.nfr_recommendations).toEqual([
      { component: "function", dimension: "replicas", target: 3 },
      { component: "function", dimension: "cpu", target: 650.5 },
    ]);
  });

  test("keeps values that our rules reject while other fields change, with a warning", async () => {
    const patch = '{"metadata":{"finalizers":["oaas.io/finalizer"]}}';
    const { stderr, exitCode } = await cluster.kubectl(["patch", "crt/taken-over", "--type=merge", "-p", patch]);
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toContain("max_scale must not be below min_scale");
  });

  test("accepts our status, including recommendations", async () => {
    const steps = [
      { phase: "available", observedGeneration: 1 },
      { phase: "available", nfr_recommendations: [{ component: "function", dimension: "replicas", target: 4 }] },
    ];
    for (const status of steps) {
      await applyStatus(status);
      expect((await read()).status).toMatchObject(status);
    }
  });
});
