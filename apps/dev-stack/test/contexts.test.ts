import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startEmbedded, type EmbeddedCluster } from "@oaas/kube-apiserver/node";
import { eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { stopStack, startStack, type StackProcess } from "./stack-process.ts";

/** The stack with existing clusters, selected by kubeconfig contexts. */
const folder = mkdtempSync(path.join(tmpdir(), "oaas-contexts-"));
const kubeconfig = path.join(folder, "kubeconfig");
const env = { KUBECONFIG: kubeconfig };
const BOTH = ["--context=admin@one", "--context=two"];
const clusters: EmbeddedCluster[] = [];
let stack: StackProcess | undefined;

interface Named {
  readonly name: string;
}
interface KubeConfig {
  readonly clusters: readonly (Named & { readonly cluster: unknown })[];
  readonly users: readonly (Named & { readonly user: unknown })[];
  readonly contexts: readonly (Named & { readonly context: unknown })[];
}

beforeAll(async () => {
  for (const name of ["admin@one", "two"]) clusters.push(await startEmbedded({ name, simulation: { nodes: 2 } }));
  const parts = clusters.map((cluster) => parse(cluster.kubeconfig) as KubeConfig);
  writeFileSync(
    kubeconfig,
    stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: parts.flatMap((part) => part.clusters),
      users: parts.flatMap((part) => part.users),
      contexts: parts.flatMap((part) => part.contexts),
      "current-context": "two",
    }),
  );
});
afterAll(async () => {
  if (stack) await stopStack(stack, "SIGKILL");
  for (const cluster of clusters) await cluster.close();
  rmSync(folder, { recursive: true, force: true });
});

const kindsIn = async ({ url }: EmbeddedCluster): Promise<string[]> => {
  const answer = await fetch(`${url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`);
  const { items } = (await answer.json()) as { items: readonly { metadata: Named }[] };
  return items.map(({ metadata }) => metadata.name).filter((name) => name.endsWith(".oaas.io"));
};

test("shows the CRD changes and installs nothing without confirmation", async () => {
  const refused = await startStack(path.join(folder, "data"), BOTH, env).catch((error: Error) => error.message);
  expect(refused).toMatch(/would be installed/);
  expect(refused).toMatch(/admin@one\n +\+ .*oaas\.io/);
  expect(refused).toContain("+ classruntimes.oaas.io");
  expect(refused).toContain("repeat the command with --yes");
  expect(await Promise.all(clusters.map(kindsIn))).toEqual([[], []]);
});

test("reports a missing context and an unreachable cluster before anything starts", async () => {
  const unknown = await startStack(path.join(folder, "data"), ["--context=three"], env).catch((e: Error) => e.message);
  expect(unknown).toMatch(/three/);
  const gone = path.join(folder, "gone");
  writeFileSync(gone, clusters[0]!.kubeconfig.replace(/server: .*/, "server: http://127.0.0.1:1"));
  const unreachable = await startStack(path.join(folder, "data"), ["--context=admin@one"], { KUBECONFIG: gone }).catch(
    (error: Error) => error.message,
  );
  expect(unreachable).toMatch(/cannot use the cluster of context admin@one/);
});

test("with --yes installs the CRDs, deploys to both contexts, and needs no confirmation on the second start", async () => {
  stack = await startStack(path.join(folder, "data"), [...BOTH, "--yes"], env);
  expect(stack.clusters.map(({ name }) => name)).toEqual(["admin-one", "two"]);
  expect((await kindsIn(clusters[0]!)).length).toBeGreaterThanOrEqual(3);
  const { url } = stack;
  const post = async (at: string, body: object): Promise<void> => {
    const answer = await fetch(`${url}/api/v1${at}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(answer.ok, await answer.text()).toBe(true);
  };
  expect(await (await fetch(`${url}/api/v1/deployments`)).json(), "no examples in existing clusters").toEqual([]);
  await post("/packages", {
    name: "hello",
    version: "1.0.0",
    classes: [
      { key: "Hello", function_bindings: [{ name: "say", function_key: "Hello.say", access_modifier: "PUBLIC" }] },
    ],
    functions: [{ key: "Hello.say", provision_config: { container_image: "example.test/hello:1.0.0" } }],
  });
  await post("/deployments", {
    key: "hello",
    package_name: "hello",
    class_key: "Hello",
    target_clusters: ["admin-one", "two"],
  });
  const isRunning = async (at: string): Promise<void> => {
    expect(await (await fetch(`${at}/api/v1/deployments/hello/status`)).json()).toMatchObject({ condition: "Running" });
  };
  await eventually(() => isRunning(url), { timeoutMs: 120_000 });
  expect(await stopStack(stack, "SIGTERM")).toBe(0);
  expect((await kindsIn(clusters[0]!)).length, "the CRDs stay installed").toBeGreaterThanOrEqual(3);

  stack = await startStack(path.join(folder, "data"), BOTH, env);
  const again = stack.url;
  await eventually(() => isRunning(again), { timeoutMs: 120_000 });
  expect(await stopStack(stack, "SIGTERM")).toBe(0);
}, 300_000);
