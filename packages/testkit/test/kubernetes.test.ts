import { existsSync, readFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { probe } from "@oaas/real-components";
import { describeWith, eventually, processesWith, startKubernetes, type KubernetesUnderTest } from "../src/index.ts";

const WIDGETS = join(import.meta.dirname, "programs/widgets.crd.yaml");

describeWith(["kubernetes", "etcd", "kwok"], "a real cluster with controllers and simulated nodes", () => {
  let cluster: KubernetesUnderTest;
  beforeAll(async () => {
    cluster = await startKubernetes({
      controllerManager: true,
      scheduler: true,
      kwokNodes: 2,
      users: [{ name: "viewer", token: "viewer-token", groups: ["viewers"] }],
      crdFiles: [WIDGETS],
      audit: true,
    });
  });
  afterAll(() => cluster?.close());

  const kubectl = async (args: string, stdin?: string): Promise<string> => {
    const result = await cluster.kubectl(args.split(" "), stdin === undefined ? {} : { stdin });
    if (result.exitCode !== 0) throw new Error(result.stderr);
    return result.stdout;
  };

  it("is Kubernetes 1.36.3, for kubectl as well", async () => {
    const versions = JSON.parse(await kubectl("version -o json")) as Record<string, { gitVersion: string }>;
    expect(versions["serverVersion"]?.gitVersion).toBe("v1.36.3");
    expect(versions["clientVersion"]?.gitVersion).toBe("v1.36.3");
  });

  it("makes a Deployment Available and spreads its pods over the nodes", async () => {
    await kubectl("create deployment web --image=example.test/web:1 --replicas=4");
    await kubectl("wait --for=condition=Available deployment/web --timeout=60s");
    const nodes = await kubectl("get pods -l app=web -o jsonpath={.items[*].spec.nodeName}");
    expect([...new Set(nodes.split(" "))].sort()).toEqual(["node-0", "node-1"]);
  });

  it.each([
    ["missing", "ImagePullBackOff", "Failed"],
    ["crashing", "CrashLoopBackOff", "BackOff"],
  ])("fails pods with the image tag %s permanently with %s and an event", async (tag, reason, event) => {
    await kubectl(`create deployment ${tag} --image=example.test/web:${tag}`);
    const waiting = "jsonpath={.items[*].status.containerStatuses[*].state.waiting.reason}";
    await eventually(async () => (await kubectl(`get pods -l app=${tag} -o ${waiting}`)) === reason);
    await eventually(async () =>
      expect(await kubectl("get events -o jsonpath={.items[?(@.type=='Warning')].reason}")).toContain(event),
    );
    await kubectl(`annotate pods -l app=${tag} touched=yes`);
    expect(await kubectl(`get pods -l app=${tag} -o ${waiting}`)).toBe(reason);
    await kubectl(`delete deployment ${tag}`);
    await eventually(async () => (await kubectl(`get pods -l app=${tag} -o name`)) === "", { what: "no leftovers" });
  });

  it("writes the audit log", async () => {
    await cluster.kubectl(["--user=viewer", "get", "configmaps", "-n", "kube-system"]);
    await eventually(async () =>
      expect(await cluster.auditTrail()).toContainEqual(
        expect.objectContaining({ user: "viewer", verb: "list", resource: "configmaps", namespace: "kube-system" }),
      ),
    );
  });

  it("garbage-collects the children of a deleted owner", async () => {
    await kubectl("create deployment gone --image=example.test/web:1");
    await kubectl("wait --for=condition=Available deployment/gone --timeout=60s");
    await kubectl("delete deployment gone");
    await eventually(async () => (await kubectl("get pods,replicasets -l app=gone -o name")) === "", {
      what: "no leftovers",
    });
  });

  it("serves the CRDs and validates their schema", async () => {
    const widget = (size: number): string =>
      `apiVersion: test.oaas.io/v1\nkind: Widget\nmetadata: {name: w${size}}\nspec: {size: ${size}}\n`;
    expect(await kubectl("apply -f -", widget(1))).toContain("created");
    const refused = await cluster.kubectl(["apply", "-f", "-"], { stdin: widget(0) });
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain("spec.size");
  });

  it("authorizes other users by RBAC", async () => {
    const asViewer = (args: string) => cluster.kubectl(["--user=viewer", ...args.split(" ")]);
    expect((await asViewer("get pods")).stderr).toMatch(/Forbidden/);
    await kubectl("create clusterrolebinding viewers --clusterrole=view --group=viewers");
    await eventually(async () => expect((await asViewer("get pods")).exitCode).toBe(0), {
      what: "the role binding",
    });
    expect((await asViewer("delete deployment web")).stderr).toMatch(/Forbidden/);
  });

  it("rejects unauthenticated requests", async () => {
    const ca = readFileSync(cluster.caFile, "utf8");
    const get = (token: string) =>
      probe(`${cluster.url}/api/v1/pods`, { ca, headers: { authorization: `Bearer ${token}` } });
    expect((await get("nonsense")).status).toBe(401);
    expect((await get(cluster.token)).status).toBe(200);
  });
});

describeWith(["kubernetes", "etcd"], "a bare cluster", () => {
  it("removes processes, ports and folder on close", async () => {
    const cluster = await startKubernetes();
    const folder = dirname(cluster.kubeconfig);
    expect(processesWith(folder)).not.toEqual([]);
    await cluster.close();
    expect(processesWith(folder)).toEqual([]);
    expect(existsSync(folder)).toBe(false);
    await expect(probe(`${cluster.url}/readyz`)).rejects.toThrow(/ECONNREFUSED/);
    await cluster.close();
  });

  it("reports why the start failed, stops everything and keeps the logs", async () => {
    const thrown = await startKubernetes({ crdFiles: ["/does/not/exist.yaml"] }).catch((error: unknown) => error);
    const { message } = thrown as Error;
    expect(message).toMatch(/does\/not\/exist.yaml/);
    const folder = /files are in (\S+)/.exec(message)?.[1] ?? "";
    expect(await readdir(folder)).toContain("kube-apiserver.log");
    expect(processesWith(folder)).toEqual([]);
    await rm(folder, { recursive: true });
  });
});
