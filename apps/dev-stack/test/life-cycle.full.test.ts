import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { componentFile, describeWith, runCommand, startEtcd } from "@oaas/testkit";
import { afterAll, expect, test } from "vitest";
import { runLifeCycle, type ClusterReader, type StackCluster } from "./life-cycle.ts";

const folder = mkdtempSync(path.join(tmpdir(), "oaas-real-journey-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KINDS =
  "classruntimes,deployments,replicasets,statefulsets,horizontalpodautoscalers,poddisruptionbudgets,pods,services,configmaps,secrets,persistentvolumeclaims";

async function kubectl({ kubeconfig }: StackCluster, ...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCommand(
    componentFile("kubectl"),
    ["--kubeconfig", kubeconfig, ...args],
    { cwd: folder, timeoutMs: 60_000 },
  );
  expect(exitCode, stderr).toBe(0);
  return stdout;
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

const byKubectl: ClusterReader = {
  names: async (cluster) => {
    const template = '{range .items[*]}{.kind}s {.metadata.namespace}/{.metadata.name}{"\\n"}{end}';
    const found = lines(await kubectl(cluster, "get", KINDS, "-A", "-o", `jsonpath=${template}`));
    return found.map((line) => line.charAt(0).toLowerCase() + line.slice(1));
  },
  images: async (cluster) => {
    const template = '{range .items[*].spec.template.spec.containers[*]}{.image}{"\\n"}{end}';
    return lines(await kubectl(cluster, "get", "deployments", "-A", "-o", `jsonpath=${template}`));
  },
};

describeWith(["kubernetes", "etcd", "kwok", "kubectl"], "package life cycle on real control planes", () => {
  test("completes on two real control planes and etcd with a kill -9 in between, and leaves nothing behind", async () => {
    await using etcd = await startEtcd();
    await runLifeCycle({
      dataDir: path.join(folder, "data"),
      flags: ["--real", "--clusters=2", `--etcd=${etcd.endpoints.join(",")}`],
      reader: byKubectl,
    });
  }, 590_000);
});
