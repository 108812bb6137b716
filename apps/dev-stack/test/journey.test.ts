import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually } from "@oaas/testkit";
import { afterEach, expect, test } from "vitest";
import { end, startStack, type StackProcess } from "./stack-process.ts";

/** The life of a package against the stack itself, with the stack killed in the middle; at the end nothing is left of it. */
const folder = mkdtempSync(path.join(tmpdir(), "oaas-journey-"));
const EXAMPLE = path.resolve(import.meta.dirname, "..", "..", "..", "examples", "packages", "counter.yaml");
const KINDS = [
  "/apis/oaas.io/v1alpha1/classruntimes",
  "/apis/apps/v1/deployments",
  "/apis/apps/v1/replicasets",
  "/apis/apps/v1/statefulsets",
  "/apis/autoscaling/v2/horizontalpodautoscalers",
  "/apis/policy/v1/poddisruptionbudgets",
  "/api/v1/pods",
  "/api/v1/services",
  "/api/v1/configmaps",
  "/api/v1/secrets",
  "/api/v1/persistentvolumeclaims",
];
const EVERYWHERE = ["edge", "cloud", "far-edge"];
const running: StackProcess[] = [];

afterEach(async () => {
  for (const stack of running.splice(0)) await end(stack, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<StackProcess> {
  const stack = await startStack(path.join(folder, "data"));
  running.push(stack);
  return stack;
}

interface List {
  readonly items: readonly { readonly metadata: { readonly namespace?: string; readonly name: string } }[];
}

/** Every object there is, by kind and name, in all clusters and in the package manager. */
async function everything({ clusters, url }: StackProcess): Promise<readonly string[]> {
  const objects = await Promise.all(
    clusters.flatMap(({ name: cluster, apiUrl }) =>
      KINDS.map(async (kind) => {
        const answer = await fetch(apiUrl + kind);
        expect(answer.status, kind).toBe(200);
        const { items } = (await answer.json()) as List;
        return items.map(({ metadata }) => `${cluster} ${kind} ${metadata.namespace ?? ""}/${metadata.name}`);
      }),
    ),
  );
  const [packages, deployments, runtimes] = await Promise.all(
    ["packages", "deployments", "class-runtimes"].map(async (what) => (await fetch(`${url}/api/v1/${what}`)).json()),
  );
  const named = (what: string, list: unknown): string[] =>
    (list as { name?: string; key?: string; id?: string }[]).map(({ name, key, id }) => `${what} ${key ?? name ?? id}`);
  return [
    ...objects.flat(),
    ...named("package", packages),
    ...named("deployment", deployments),
    ...named("runtime", runtimes),
  ].toSorted();
}

const WISH = { key: "counter", package_name: "counter", class_key: "Counter", target_clusters: EVERYWHERE };
const withImage = (image: string): object => ({
  ...WISH,
  functions: [{ function_key: "Counter.add", provision_config: { container_image: image } }],
});

async function send(stack: StackProcess, method: string, at: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(`${stack.url}/api/v1${at}`, {
    method,
    ...(body === undefined
      ? {}
      : {
          headers: { "content-type": typeof body === "string" ? "application/yaml" : "application/json" },
          body: typeof body === "string" ? body : JSON.stringify(body),
        }),
  });
  const text = await answer.text();
  expect(answer.ok, `${method} ${at}: ${answer.status} ${text}`).toBe(true);
  return (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
}

/** Which image the function has, in the API server of each cluster. */
async function images({ clusters }: StackProcess): Promise<Record<string, readonly string[]>> {
  const found = await Promise.all(
    clusters.map(async ({ name, apiUrl }) => {
      const { items } = (await (await fetch(`${apiUrl}/apis/apps/v1/deployments`)).json()) as {
        items: { spec: { template: { spec: { containers: { image: string }[] } } } }[];
      };
      const all = items.flatMap(({ spec }) => spec.template.spec.containers.map(({ image }) => image));
      return [name, all.filter((image) => image.includes("counter-add"))] as const;
    }),
  );
  return Object.fromEntries(found);
}

async function untilRunning(stack: StackProcess, revision: number, image: string): Promise<void> {
  await eventually(
    async () => {
      expect(await send(stack, "GET", "/deployments/counter/status")).toMatchObject({
        condition: "Running",
        revision,
        clusters: EVERYWHERE.toSorted().map((cluster) => ({ cluster, reachable: true, condition: "Running" })),
      });
      expect(await images(stack)).toEqual(Object.fromEntries(EVERYWHERE.map((name) => [name, [image]])));
    },
    { timeoutMs: 120_000 },
  );
}

test("registered, planned, deployed, updated, rolled back with a kill -9 in the middle, deleted: nothing is left", async () => {
  const first = await start();
  const before = await everything(first);
  expect(before.some((line) => line.startsWith("edge /apis/apps/v1/deployments default/shop-order-"))).toBe(true);

  await send(first, "POST", "/packages", readFileSync(EXAMPLE, "utf8"));
  const plan = await send(first, "POST", "/plans", { deployment: WISH });
  expect(plan["explanation"]).toBeTruthy();
  await send(first, "POST", "/deployments", { ...WISH, plan_digest: plan["digest"] });
  await untilRunning(first, 1, "example.test/counter-add:1.0.0");

  await send(first, "PUT", "/deployments/counter", withImage("example.test/counter-add:2.0.0"));
  await untilRunning(first, 2, "example.test/counter-add:2.0.0");

  // Killed as soon as the wish to go back is kept: some clusters may have it, some not.
  const asked = send(first, "POST", "/deployments/counter/rollback", { revision: 1, reason: "journey" }).catch(
    () => undefined,
  );
  await eventually(async () =>
    expect(await send(first, "GET", "/deployments/counter/status")).toMatchObject({ revision: 3 }),
  );
  await end(first, "SIGKILL");
  await asked;

  const second = await start();
  expect(second.start).toBe(2);
  await untilRunning(second, 3, "example.test/counter-add:1.0.0");
  expect(await send(second, "GET", "/deployments/counter/revisions")).toHaveLength(3);

  await send(second, "DELETE", "/deployments/counter");
  await eventually(async () => send(second, "DELETE", "/packages/counter"), { timeoutMs: 60_000 });
  await eventually(async () => expect(await everything(second)).toEqual(before), { timeoutMs: 60_000 });
  expect(await end(second, "SIGTERM")).toBe(0);
}, 400_000);
