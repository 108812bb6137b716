import { classRuntime } from "@oaas/contracts/crd";
import { Fault, notFound, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { expect, test } from "vitest";
import type { StoredClass } from "../../classes/ports.ts";
import type { Pod } from "../../lifecycle/observation/observed-objects.ts";
import { createKubeUsageReader, type KubeUsageReaderOptions } from "./kube-usage-reader.ts";

const classIn = (namespace: string): StoredClass =>
  classRuntime.parse({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name: "hello", namespace, uid: namespace, resourceVersion: "1" },
    spec: {
      package_class_key: "shop.Hello",
      origin: { deployment_id: `unit-${namespace}` },
      functions: [{ function_key: "greet", provision_config: { container_image: "x:1" } }],
    },
  }) as StoredClass;

const pod = (name: string, labels: Record<string, string>): Pod =>
  ({ metadata: { name, namespace: "shop", uid: name, labels } }) as unknown as Pod;

const PODS = [
  pod("a", { "oaas.io/component": "function", "oaas.io/function": "greet" }),
  pod("b", { "oaas.io/component": "function", "oaas.io/function": "greet" }),
  pod("new", { "oaas.io/component": "function", "oaas.io/function": "greet" }),
  pod("grid", { "oaas.io/component": "odgm" }),
];

const metrics = (name: string, timestamp: string, ...usages: readonly (readonly [string, string])[]) => ({
  metadata: { name, namespace: "shop" },
  timestamp,
  containers: usages.map(([cpu, memory]) => ({ usage: { cpu, memory } })),
});

const METRICS = [
  metrics("a", "2026-01-01T00:00:10Z", ["100m", "1Mi"], ["50m", "1Mi"]),
  metrics("b", "2026-01-01T00:00:05Z", ["1500000n", "512Ki"]),
  metrics("grid", "never", ["2", "wrong"]),
  metrics("other", "2026-01-01T00:00:00Z", ["9", "9"]),
];

function setUp(over: Partial<KubeUsageReaderOptions> = {}, fail?: () => Fault) {
  const asked: unknown[] = [];
  const ambient = virtualAmbient(1);
  const read = createKubeUsageReader({
    ambient,
    namespaces: { served: "all" },
    classes: () => [classIn("shop"), classIn("empty")],
    podsOf: (namespace) => (namespace === "shop" ? PODS : []),
    client: {
      resource: () => ({
        async *listAll(query: unknown) {
          asked.push(query);
          const fault = fail?.();
          if (fault) throw fault;
          yield* METRICS;
        },
      }),
    } as never,
    ...over,
  });
  return { asked, time: ambient.time, read: () => read(new AbortController().signal) };
}

test("sums up the containers and pods of each component", async () => {
  const greet = { deploymentId: "unit-shop", namespace: "shop", component: "greet", pods: 2 };
  expect(await setUp().read()).toEqual([
    {
      ...greet,
      cpuMillicores: 151.5,
      memoryBytes: 2.5 * 2 ** 20,
      maxCpuMillicores: 150,
      maxMemoryBytes: 2 * 2 ** 20,
      observedAt: { seconds: BigInt(Date.parse("2026-01-01T00:00:05Z") / 1000), nanos: 0 },
    },
    {
      ...greet,
      component: "odgm",
      pods: 1,
      cpuMillicores: 2000,
      memoryBytes: 0,
      maxCpuMillicores: 2000,
      maxMemoryBytes: 0,
    },
  ]);
});

test("lists once for the whole cluster, or in served namespaces that have classes", async () => {
  const all = setUp();
  await all.read();
  expect(all.asked).toEqual([{ labelSelector: "oaas.io/owner" }]);
  const some = setUp({ namespaces: { served: ["shop", "empty", "unused"] } });
  await some.read();
  expect(some.asked).toEqual(["shop", "empty"].map((namespace) => ({ labelSelector: "oaas.io/owner", namespace })));
});

test("shares one reading among callers for a few seconds", async () => {
  const { asked, read, time } = setUp();
  await Promise.all([read(), read()]);
  await read();
  expect(asked).toHaveLength(1);
  await time.advance(5_000);
  await read();
  expect(asked).toHaveLength(2);
});

test.each([
  { fault: notFound("pods.metrics.k8s.io", "list"), kind: "failed-precondition", says: "install metrics-server" },
  {
    fault: new Fault({ kind: "permission-denied", action: "list pods" }, "forbidden"),
    kind: "failed-precondition",
    says: "apply the ClusterRole",
  },
  { fault: unavailable("metrics-server", "is starting"), kind: "unavailable", says: "is starting" },
])("reports $fault.kind as $kind", async ({ fault, kind, says }) => {
  const thrown = await setUp({}, () => fault)
    .read()
    .catch((one: unknown) => Fault.from(one));
  expect(thrown).toMatchObject({ kind });
  expect((thrown as Fault).message).toContain(says);
});
