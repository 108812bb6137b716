import { create } from "@bufbuild/protobuf";
import { StreamLogsRequestSchema, type StreamLogsRequest } from "@oaas/contracts/grpc";
import { classRuntime } from "@oaas/contracts/crd";
import { unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { expect, test } from "vitest";
import type { StoredClass } from "../../classes/ports.ts";
import type { Pod } from "../../lifecycle/observation/observed-objects.ts";
import { streamLogs, type LogDeps } from "./stream-logs.ts";

const OBJECT = classRuntime.parse({
  apiVersion: "oaas.io/v1alpha1",
  kind: "ClassRuntime",
  metadata: { name: "hello", namespace: "shop", uid: "u", resourceVersion: "1" },
  spec: {
    package_class_key: "shop.Hello",
    functions: ["greet", "bye"].map((key) => ({ function_key: key, provision_config: { container_image: "x:1" } })),
  },
}) as StoredClass;

function pod(name: string, fn?: string): Pod {
  const labels = { "oaas.io/owner": "hello", ...(fn === undefined ? {} : { "oaas.io/function": fn }) };
  return { metadata: { name, namespace: "shop", uid: name, labels }, status: { phase: "Running" } } as unknown as Pod;
}

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

interface Fake extends LogDeps {
  readonly asked: unknown[];
  pods: Pod[];
}

function setUp(
  read: (name: string) => AsyncIterable<Uint8Array> | Promise<never>,
): Fake & ReturnType<typeof virtualAmbient> {
  const ambient = virtualAmbient(1);
  const fake = {
    ...ambient,
    ambient,
    asked: [] as unknown[],
    pods: [] as Pod[],
    client: {
      podLog: async (options: { readonly pod: string }) => {
        fake.asked.push(options);
        return read(options.pod);
      },
    },
    podsOf: () => fake.pods,
  };
  return fake;
}

async function collect(deps: LogDeps, over: Partial<StreamLogsRequest> = {}): Promise<readonly string[]> {
  const request = create(StreamLogsRequestSchema, { deploymentId: "hello", ...over });
  const lines: string[] = [];
  for await (const { lines: batch = [] } of streamLogs(OBJECT, request, deps, new AbortController().signal)) {
    for (const { pod: name, functionKey, text, notice } of batch) {
      lines.push(`${name}/${functionKey}${notice === true ? "!" : ":"} ${text}`);
    }
  }
  return lines.toSorted();
}

test("reads the container of every function pod, and not of the state store", async () => {
  const deps = setUp((name) => chunks(`2026-01-01T00:00:00Z from ${name}\n2026-01-01T00`, ":00:01Z more\n"));
  deps.pods = [pod("a", "greet"), pod("b", "bye"), pod("odgm")];
  expect(await collect(deps, { tailLines: 5, sinceSeconds: 60 })).toEqual([
    "a/greet: from a",
    "a/greet: more",
    "b/bye: from b",
    "b/bye: more",
  ]);
  expect(deps.asked[0]).toEqual({
    namespace: "shop",
    pod: "a",
    container: "function",
    timestamps: true,
    tailLines: 5,
    sinceSeconds: 60,
  });
});

test("reads one function, and rejects an unknown one with the known ones", async () => {
  const deps = setUp((name) => chunks(`2026-01-01T00:00:00Z ${name}\n`));
  deps.pods = [pod("a", "greet"), pod("b", "bye")];
  expect(await collect(deps, { functionKey: "bye" })).toEqual(["b/bye: b"]);
  await expect(collect(deps, { functionKey: "other" })).rejects.toThrow("the class has greet, bye");
});

test("returns only lines with a text, which notices need not contain", async () => {
  const deps = setUp((name) =>
    name === "a"
      ? Promise.reject(unavailable("the kubelet", "it is gone"))
      : chunks("2026-01-01T00:00:00Z POST /x\n2026-01-01T00:00:00Z GET /\n"),
  );
  deps.pods = [pod("a", "greet"), pod("b", "greet")];
  expect(await collect(deps, { contains: "POST" })).toEqual([
    "a/greet! cannot read the output: it is gone",
    "b/greet: POST /x",
  ]);
});

test("names a pod whose output cannot be read, and reads the others", async () => {
  const deps = setUp((name) =>
    name === "a" ? Promise.reject(unavailable("the kubelet", "it is gone")) : chunks("2026-01-01T00:00:00Z fine\n"),
  );
  deps.pods = [pod("a", "greet"), pod("b", "greet")];
  expect(await collect(deps)).toEqual(["a/greet! cannot read the output: it is gone", "b/greet: fine"]);
});

test("reads at most 100 pods and says how many are left out", async () => {
  const deps = setUp(() => chunks("2026-01-01T00:00:00Z x\n"));
  deps.pods = Array.from({ length: 130 }, (_, index) => pod(`p${index}`, "greet"));
  const lines = await collect(deps);
  expect(deps.asked).toHaveLength(100);
  expect(lines[0]).toContain("30 more pods are left out");
});

test("follows pods that start later, and ends with the call", async () => {
  const deps = setUp((name) => chunks(`2026-01-01T00:00:00Z from ${name}\n`));
  deps.pods = [pod("a", "greet")];
  const leaving = new AbortController();
  const request = create(StreamLogsRequestSchema, { deploymentId: "hello", follow: true });
  const stream = streamLogs(OBJECT, request, deps, leaving.signal);
  expect((await stream.next()).value).toMatchObject({ lines: [{ pod: "a" }] });
  deps.pods = [pod("a", "greet"), pod("b", "greet")];
  const next = stream.next();
  await deps.time.advance(1100);
  expect((await next).value).toMatchObject({ lines: [{ pod: "b" }] });
  const last = stream.next();
  leaving.abort();
  expect(await last).toEqual({ done: true, value: undefined });
});
