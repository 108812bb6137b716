import { readFileSync } from "node:fs";
import path from "node:path";
import { eventually } from "@oaas/testkit";
import { expect } from "vitest";
import { end, startStack, type StackProcess } from "./stack-process.ts";

/** A cluster of a stack, as its last line of the start describes it. */
export type JourneyCluster = StackProcess["clusters"][number];

/** How objects of a cluster are read. */
export interface ClusterReader {
  /** Every object, as `kind namespace/name`. */
  readonly names: (cluster: JourneyCluster) => Promise<readonly string[]>;
  /** Of all containers of Deployments. */
  readonly images: (cluster: JourneyCluster) => Promise<readonly string[]>;
}

export interface JourneyOptions {
  readonly dataDir: string;
  readonly flags: readonly string[];
  readonly reader: ClusterReader;
}

const EXAMPLE = path.resolve(import.meta.dirname, "..", "..", "..", "examples", "packages", "counter.yaml");
const PATIENCE = { timeoutMs: 120_000 };

/**
 * The life of a package against the stack itself: registered, planned, deployed, updated, rolled back with a kill -9 in the middle, deleted.
 * At the end there is what there was before.
 */
export async function takeJourney({ dataDir, flags, reader }: JourneyOptions): Promise<void> {
  await using first = await disposable(startStack(dataDir, flags));
  const names = first.clusters.map(({ name }) => name);
  const wish = { key: "counter", package_name: "counter", class_key: "Counter", target_clusters: names };
  await examplesRun(first);
  const before = await everything(first, reader);
  expect(before.some((line) => line.startsWith("edge deployments") && line.includes("/shop-order-"))).toBe(true);

  await send(first, "POST", "/packages", readFileSync(EXAMPLE, "utf8"));
  const plan = await send(first, "POST", "/plans", { deployment: wish });
  expect(plan["explanation"]).toBeTruthy();
  await send(first, "POST", "/deployments", { ...wish, plan_digest: plan["digest"] });
  await untilRunning(first, reader, 1, "example.test/counter-add:1.0.0");

  const functions = [
    { function_key: "Counter.add", provision_config: { container_image: "example.test/counter-add:2.0.0" } },
  ];
  await send(first, "PUT", "/deployments/counter", { ...wish, functions });
  await untilRunning(first, reader, 2, "example.test/counter-add:2.0.0");

  // Killed as soon as the wish to go back is kept: some clusters may have it, some not.
  const asked = send(first, "POST", "/deployments/counter/rollback", { revision: 1, reason: "journey" }).catch(
    () => undefined,
  );
  await eventually(async () =>
    expect(await send(first, "GET", "/deployments/counter/status")).toMatchObject({ revision: 3 }),
  );
  await end(first, "SIGKILL");
  await asked;

  await using second = await disposable(startStack(dataDir, flags));
  expect(second.start).toBe(2);
  await untilRunning(second, reader, 3, "example.test/counter-add:1.0.0");
  expect(await send(second, "GET", "/deployments/counter/revisions")).toHaveLength(3);

  await send(second, "DELETE", "/deployments/counter");
  await eventually(async () => send(second, "DELETE", "/packages/counter"), PATIENCE);
  await eventually(async () => expect(await everything(second, reader)).toEqual(before), PATIENCE);
  expect(await end(second, "SIGTERM")).toBe(0);
}

/** The start shows examples as they are when its patience ends; what is compared with later must be all of them. */
async function examplesRun(stack: StackProcess): Promise<void> {
  const examples = (await send(stack, "GET", "/deployments")) as unknown as readonly { readonly key: string }[];
  for (const { key } of examples) {
    await eventually(
      async () =>
        expect(await send(stack, "GET", `/deployments/${key}/status`)).toMatchObject({ condition: "Running" }),
      PATIENCE,
    );
  }
}

/** A stack that ends with the block it is used in, however that ends. */
async function disposable(starting: Promise<StackProcess>): Promise<StackProcess & AsyncDisposable> {
  const stack = await starting;
  return { ...stack, [Symbol.asyncDispose]: async () => void (await end(stack, "SIGKILL")) };
}

/** Every object there is, by kind and name, in all clusters and in the package manager. */
async function everything({ clusters, url }: StackProcess, reader: ClusterReader): Promise<readonly string[]> {
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
  return [...objects.flat(), ...registered.flat()].toSorted();
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

/** The package manager calls it running everywhere, and each API server has the image. */
async function untilRunning(
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
  }, PATIENCE);
}
