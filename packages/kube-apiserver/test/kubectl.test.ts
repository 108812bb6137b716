import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { componentFile, describeWith, runCommand } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmbedded, type EmbeddedCluster } from "../src/adapters/index.ts";

describeWith(["kubectl"], "kubectl on the embedded API server", () => {
  let cluster: EmbeddedCluster;
  let folder: string;

  beforeAll(async () => {
    cluster = await startEmbedded({ simulation: { nodes: 2 } });
    folder = mkdtempSync(join(tmpdir(), "oaas-embedded-kubectl-"));
    writeFileSync(join(folder, "kubeconfig"), cluster.kubeconfig);
  });
  afterAll(async () => {
    await cluster.close();
    rmSync(folder, { recursive: true });
  });

  async function kubectl(line: string, stdin?: string): Promise<string> {
    const { exitCode, stdout, stderr } = await runCommand(componentFile("kubectl"), line.split(" "), {
      timeoutMs: 120_000,
      cwd: folder,
      env: { KUBECONFIG: join(folder, "kubeconfig"), HOME: folder },
      ...(stdin === undefined ? {} : { stdin }),
    });
    if (exitCode !== 0) throw new Error(`kubectl ${line}: ${stderr}`);
    return stdout;
  }

  const map = (value: string): string =>
    JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { key: value } });

  test("creates, rolls out, scales, describes, explains and deletes a Deployment with its dependents", async () => {
    await kubectl("create deployment web --image=nginx --replicas=2");
    expect(await kubectl("rollout status deployment/web --timeout=60s")).toContain("successfully rolled out");
    await kubectl("scale deployment/web --replicas=3");
    await kubectl("wait --for=jsonpath={.status.readyReplicas}=3 deployment/web --timeout=60s");
    expect(await kubectl("get pods")).toMatch(/web-\S+\s+1\/1\s+Running/);
    expect(await kubectl("describe deployment web")).toContain("Replicas:               3 desired");
    expect(await kubectl("explain deployment.spec.replicas")).toContain("<integer>");
    expect(await kubectl("get events")).toContain("ScalingReplicaSet");
    await kubectl("delete deployment web");
    await kubectl("wait --for=delete pod -l app=web --timeout=60s");
  });

  test("applies client-side and server-side, diffs, patches and labels objects", async () => {
    expect(await kubectl("apply -f -", map("one"))).toContain("created");
    expect(await kubectl("apply -f -", map("one"))).toContain("unchanged");
    expect(await kubectl("diff -f -", map("one"))).toBe("");
    // kubectl may take over fields it applied client-side. Fields of another manager need --force-conflicts.
    expect(await kubectl("apply --server-side -f -", map("two"))).toContain("serverside-applied");
    await expect(kubectl("apply --server-side --field-manager=other -f -", map("three"))).rejects.toThrow(
      /conflict with "kubectl"/,
    );
    expect(await kubectl("apply --server-side --field-manager=other --force-conflicts -f -", map("three"))).toContain(
      "serverside-applied",
    );
    await kubectl("label configmap settings tier=front");
    await kubectl('patch configmap settings -p {"data":{"more":"x"}}');
    expect(await kubectl("get configmap -l tier=front -o jsonpath={.items[*].data.more}")).toBe("x");
  });

  test("defines a custom kind, lists it with its columns, and rejects invalid objects", async () => {
    await kubectl("apply -f -", JSON.stringify(DEFINITION));
    await kubectl("wait --for=condition=Established crd/lamps.home.test --timeout=60s");
    await kubectl("apply -f -", JSON.stringify(lamp("desk", 40)));
    expect(await kubectl("get lamps")).toMatch(/NAME\s+WATTS\ndesk\s+40\n/);
    await expect(kubectl("apply -f -", JSON.stringify(lamp("sun", 4000)))).rejects.toThrow(/too bright/);
    expect(await kubectl("api-resources --api-group=home.test -o name")).toBe("lamps.home.test\n");
    expect(await kubectl("auth can-i delete lamps")).toBe("yes\n");
    await kubectl("delete crd lamps.home.test");
  });

  test("deletes a namespace with its content", async () => {
    await kubectl("create namespace brief");
    await kubectl("create configmap there -n brief --from-literal=a=b");
    await kubectl("delete namespace brief --timeout=60s");
    await expect(kubectl("get namespace brief")).rejects.toThrow(/NotFound/);
  });
});

const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "lamps.home.test" },
  spec: {
    group: "home.test",
    scope: "Namespaced",
    names: { plural: "lamps", kind: "Lamp" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        additionalPrinterColumns: [{ name: "Watts", type: "integer", jsonPath: ".spec.watts" }],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: { watts: { type: "integer" } },
                "x-kubernetes-validations": [{ rule: "self.watts < 1000", message: "too bright" }],
              },
            },
          },
        },
      },
    ],
  },
};

function lamp(name: string, watts: number): object {
  return { apiVersion: "home.test/v1", kind: "Lamp", metadata: { name }, spec: { watts } };
}
