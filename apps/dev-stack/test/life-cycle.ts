import { readFileSync } from "node:fs";
import path from "node:path";
import { eventually } from "@oaas/testkit";
import { expect } from "vitest";
import { stopStack, startStack, type StackProcess } from "./stack-process.ts";

/** A cluster as listed in the ready line of the stack. */
export type StackCluster = StackProcess["clusters"][number];

/** Reads the objects of a cluster. */
export interface ClusterReader {
  /** Every object, as `kind namespace/name`. */
  readonly names: (cluster: StackCluster) => Promise<readonly string[]>;
  /** The images of all containers of Deployments. */
  readonly images: (cluster: StackCluster) => Promise<readonly string[]>;
}

export interface LifeCycleOptions {
  readonly dataDir: string;
  readonly flags: readonly string[];
  readonly reader: ClusterReader;
}

const EXAMPLE = path.resolve(import.meta.dirname, "..", "..", "..", "examples", "packages", "counter.yaml");
const TIMEOUT = { timeoutMs: 120_000 };

/**
 * Registers, plans, deploys, updates, rolls back (with a kill -9 in between) and deletes a package. At the end the
 * stack has the same objects as before.
 */
export async function runLifeCycle({ dataDir, flags, reader }: LifeCycleOptions): Promise<void> {
  await using first = await disposable(startStack(dataDir, flags));
  const names = first.clusters.map(({ name }) => name);
  const deployment = { key: "counter", package_name: "counter", class_key: "Counter", target_clusters: names };
  await waitForExamples(first);
  const before = await listObjects(first, reader);
  expect(before.some((line) => line.startsWith("edge deployments") && line.includes("/shop-order-"))).toBe(true);

  await send(first, "POST", "/packages", readFileSync(EXAMPLE, "utf8"));
  const plan = await send(first, "POST", "/plans", { deployment: deployment });
  expect(plan["explanation"]).toBeTruthy();
  await send(first, "POST", "/deployments", { ...deployment, plan_digest: plan["digest"] });
  await waitUntilRunning(first, reader, 1, "example.test/counter-add:1.0.0");

  const functions = [
    { function_key: "Counter.add", provision_config: { container_image: "example.test/counter-add:2.0.0" } },
  ];
  await send(first, "PUT", "/deployments/counter", { ...deployment, functions });
  await waitUntilRunning(first, reader, 2, "example.test/counter-add:2.0.0");

  // Kill as soon as the rollback is stored: some clusters may have it, some not.
  const rollback = send(first, "POST", "/deployments/counter/rollback", { revision: 1, reason: "journey" }).catch(
    () => undefined,
  );
  await eventually(async () =>
    expect(await send(first, "GET", "/deployments/counter/status")).toMatchObject({ revision: 3 }),
  );
  await stopStack(first, "SIGKILL");
  await rollback;

  await using second = await disposable(startStack(dataDir, flags));
  expect(second.start).toBe(2);
  await waitUntilRunning(second, reader, 3, "example.test/counter-add:1.0.0");
  expect(await send(second, "GET", "/deployments/counter/revisions")).toHaveLength(3);

  await send(second, "DELETE", "/deployments/counter");
  await eventually(async () => send(second, "DELETE", "/packages/counter"), TIMEOUT);
  await eventually(async () => expect(await listObjects(second, reader)).toEqual(before), TIMEOUT);
  expect(await stopStack(second, "SIGTERM")).toBe(0);
}

/** Waits for all examples, because the start may time out before they run and the comparison needs all of them. */
async function waitForExamples(stack: StackProcess): Promise<void> {
  const examples = (await send(stack, "GET", "/deployments")) as unknown as readonly { readonly key: string }[];
  for (const { key } of examples) {
    await eventually(
      async () =>
        expect(await send(stack, "GET", `/deployments/${key}/status`)).toMatchObject({ condition: "Running" }),
      TIMEOUT,
    );
  }
}

/** A stack that is killed at the end of the block. */
async function disposable(starting: Promise<StackProcess>): Promise<StackProcess & AsyncDisposable> {
  const stack = await starting;
  return { ...stack, [Symbol.asyncDispose]: async () => void (await stopStack(stack, "SIGKILL")) };
}

/** Kind and name of every object in all clusters and in the package manager. */
async function listObjects({ clusters, url }: StackProcess, reader: ClusterReader): Promise<readonly string[]> {
  const objects = await Promise.all(
    clusters.map(async (cluster) => (await reader.names(cluster)).map((line) => `${cluster.name} ${line}`)),
  );
  const registered = await Promise.all(
    ["packages", "deployments", "class-runtimes"].map(async (what) => {
      const list = (await (await fetch(`${url}/api/v1/${what}`)).json()) as {
        readonly name?: string;
        readonly key?: string;
        readonly id?: string;
      }[];
      return list.map(({ name, key, id }) => `${what} ${key ?? name ?? id}`);
    }),
  );
  // The example `tickets` is scaled by its load.
  const stable = objects.flat().filter((line) => !line.includes(" pods default/tickets-"));
  return [...stable, ...registered.flat()].toSorted();
}

async function send(stack: StackProcess, method: string, at: string, body?: unknown): Promise<Record<string, unknown>> {
  const isText = typeof body === "string";
  const answer = await fetch(`${stack.url}/api/v1${at}`, {
    method,
    ...(body === undefined
      ? {}
      : {
          headers: { "content-type": isText ? "application/yaml" : "application/json" },
          body: isText ? body : JSON.stringify(body),
        }),
  });
  const text = await answer.text();
  expect(answer.ok, `${method} ${at}: ${answer.status} ${text}`).toBe(true);
  return (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
}

/** Waits until the package manager reports Running in all clusters and each API server has the image. */
async function waitUntilRunning(
  stack: StackProcess,
  reader: ClusterReader,
  revision: number,
  image: string,
): Promise<void> {
  const names = stack.clusters.map(({ name }) => name).toSorted();
  await eventually(async () => {
    expect(await send(stack, "GET", "/deployments/counter/status")).toMatchObject({
      condition: "Running",
      revision,
      clusters: names.map((cluster) => ({ cluster, reachable: true, condition: "Running" })),
    });
    for (const cluster of stack.clusters) {
      const images = (await reader.images(cluster)).filter((one) => one.includes("counter-add"));
      expect(images, cluster.name).toEqual([image]);
    }
  }, TIMEOUT);
}
