import type { KubeObject } from "@oaas/kube-core";
import { describeOnTarget, startKubeTarget, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fullTemplate } from "../src/templates/builtin/full.ts";
import { replicasHandover } from "../src/rendering/workloads/replicas-handover.ts";
import type { Manifest } from "../src/rendering/model/rendered.ts";
import { goldenInputs, renderGolden } from "../src/templates/testing/golden.ts";
import { inputOf } from "../src/rendering/testing/inputs.ts";

const NAMESPACE = "rendered";
/** Kinds that an API server without further installations does not serve. */
const FOREIGN = /^(serving\.knative\.dev|monitoring\.coreos\.com)\//;

/** Renders the children of a golden input. */
function childrenOf(file: string): readonly Manifest[] {
  return renderGolden(file, NAMESPACE).rendered.children.filter(({ apiVersion }) => !FOREIGN.test(apiVersion));
}

describeOnTarget("rendered children on an API server", { needs: ["kubectl"] }, () => {
  let cluster: KubernetesUnderTest;

  beforeAll(async () => {
    cluster = await startKubeTarget();
    const namespace = {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: NAMESPACE, labels: { "pod-security.kubernetes.io/warn": "restricted" } },
    };
    const created = await cluster.kubectl(["create", "-f", "-"], { stdin: JSON.stringify(namespace) });
    expect(created.stderr).toBe("");
  });

  afterAll(async () => {
    await cluster.close();
  });

  async function dryRun(items: readonly unknown[]) {
    return cluster.kubectl(
      ["apply", "--server-side", "--dry-run=server", "--validate=strict", "--field-manager=oprc-crm", "-f", "-"],
      { stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items }) },
    );
  }

  test.each(goldenInputs)("%s passes strict validation and the restricted pod standard", async (file) => {
    const children = childrenOf(file);
    if (children.length === 0) return;
    const { exitCode, stderr, stdout } = await dryRun(children);
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
    expect(stdout.trim().split("\n")).toHaveLength(children.length);
  });

  test("moves a class through all Deployment templates, and a second apply changes nothing", async () => {
    for (const template of ["dev", "edge", "full", "k8s_deployment", "dev"]) {
      const stdin = JSON.stringify({
        apiVersion: "v1",
        kind: "List",
        items: childrenOf(`same-class-${template}.input.yaml`),
      });
      const apply = ["apply", "--server-side", "--validate=strict", "--field-manager=oprc-crm", "-f", "-"];
      const versions = ["-o", "jsonpath={.items[*].metadata.resourceVersion}"];
      const first = await cluster.kubectl([...apply, ...versions], { stdin });
      expect(first.stderr, template).toBe("");
      expect(first.stdout).toMatch(/^\d+( \d+)+$/);
      const again = await cluster.kubectl([...apply, ...versions], { stdin });
      expect(again.stdout, template).toBe(first.stdout);
    }
  });

  test("keeps the replicas when an autoscaler takes over", async () => {
    const workload = (max: object): Manifest => {
      const provision_config = { container_image: "registry.local/a:1", min_scale: 3, ...max };
      const input = inputOf({
        name: "hand-over",
        namespace: NAMESPACE,
        spec: { functions: [{ function_key: "a", provision_config }] },
      });
      const rendered = fullTemplate.render(input);
      const found = rendered.ok ? rendered.value.children.find(({ kind }) => kind === "Deployment") : undefined;
      if (found === undefined) throw new Error("no Deployment was rendered");
      return found;
    };
    const apply = async (object: Manifest, manager: string): Promise<KubeObject> => {
      const args = [
        "apply",
        "--server-side",
        "--show-managed-fields",
        `--field-manager=${manager}`,
        "-o",
        "json",
        "-f",
        "-",
      ];
      const { stdout, stderr, exitCode } = await cluster.kubectl(args, { stdin: JSON.stringify(object) });
      expect(exitCode, stderr).toBe(0);
      return JSON.parse(stdout) as KubeObject;
    };
    const before = await apply(workload({}), "oprc-crm");
    expect(before).toMatchObject({ spec: { replicas: 3 } });
    const scaled = workload({ max_scale: 9 });
    const handOver = replicasHandover(scaled, before, "oprc-crm");
    await apply(handOver!, "oprc-crm-scale");
    const after = await apply(scaled, "oprc-crm");
    expect(after).toMatchObject({ spec: { replicas: 3 } });
    expect(replicasHandover(scaled, after, "oprc-crm")).toBeUndefined();
  });

  const unrestricted = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "wrong", namespace: NAMESPACE },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: {
        metadata: { labels: { a: "b" } },
        spec: { hostNetwork: true, containers: [{ name: "a", image: "a" }] },
      },
    },
  };

  test("strict validation reports an unknown field", async () => {
    const unknown = { ...unrestricted, spec: { ...unrestricted.spec, replicaz: 1 } };
    expect((await dryRun([unknown])).stderr).toContain("replicaz");
  });

  describeOnTarget("the pod standard", { realOnly: "the embedded API server has no pod security admission" }, () => {
    test("the server warns about a pod that is not restricted", async () => {
      expect((await dryRun([unrestricted])).stderr).toContain("would violate PodSecurity");
    });
  });
});
