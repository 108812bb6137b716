import { unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName, DeploymentKey, DeploymentStatus } from "@oaas/models";
import { expect, test } from "vitest";
import type { ClusterDirectory, LogLine } from "../ports.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import { ClusterFunctionAccess, type FunctionAccessDeps } from "./function-access.ts";

const KEY = "hello" as DeploymentKey;
const { signal } = new AbortController();
const EVERYTHING = { follow: false, previous: false };
const REQUEST = { functionKey: "greet", method: "", path: "", headers: {}, body: new Uint8Array() };

function line(text: string): LogLine {
  return { pod: "p", functionKey: "greet", at: "", text, isNotice: false };
}

function setUp(over: Partial<FunctionAccessDeps["gateway"]> = {}, ready: readonly string[] = []) {
  const invoked: unknown[] = [];
  const placements = {
    edge: { unitId: "hello-edge", state: "wanted" },
    cloud: { unitId: "hello-cloud", state: "wanted" },
    old: { unitId: "hello-old", state: "withdrawn" },
  };
  const access = new ClusterFunctionAccess({
    record: async (key) => (key === KEY ? ({ placements } as unknown as DeploymentRecord) : undefined),
    clusters: { get: (name: string) => ({ name }), list: () => [] } as unknown as ClusterDirectory,
    gateway: {
      async *logs(cluster) {
        yield [line(`from ${cluster}`)];
      },
      invoke: async (cluster, unitId) => {
        invoked.push([cluster, unitId]);
        return { status: 200, headers: {}, body: new Uint8Array() };
      },
      ...over,
    },
    status: {
      status: async () =>
        ({
          clusters: ready.map((cluster) => ({ cluster, functions: [{ functionKey: "greet", ready: true }] })),
        }) as unknown as DeploymentStatus,
    },
    clock: virtualAmbient(1).time,
  });
  return { access, invoked };
}

async function readAll(access: ClusterFunctionAccess, cluster?: string): Promise<readonly string[]> {
  const of = cluster === undefined ? {} : { cluster: cluster as ClusterName };
  const lines: string[] = [];
  for await (const batch of await access.logs(KEY, { ...EVERYTHING, ...of }, signal)) {
    for (const each of batch) lines.push(`${each.cluster}${each.isNotice ? "!" : ":"} ${each.text}`);
  }
  return lines.toSorted();
}

test("merges the output of all clusters of the deployment, or reads one", async () => {
  const { access } = setUp();
  expect(await readAll(access)).toEqual(["cloud: from cloud", "edge: from edge"]);
  expect(await readAll(access, "edge")).toEqual(["edge: from edge"]);
});

test("names an unreachable cluster in a notice", async () => {
  const { access } = setUp({
    async *logs(cluster) {
      if (cluster === "edge") throw unavailable("edge", "edge does not answer");
      yield [line("fine")];
    },
  });
  expect(await readAll(access)).toEqual(["cloud: fine", "edge! cannot read the output: edge does not answer"]);
});

test("invokes the function in the first cluster where it is ready, or in the given one", async () => {
  const { access, invoked } = setUp({}, ["edge"]);
  expect(await access.invoke(KEY, REQUEST, { signal })).toMatchObject({ cluster: "edge" });
  await access.invoke(KEY, REQUEST, { signal, cluster: "cloud" as ClusterName });
  expect(invoked).toEqual([
    ["edge", "hello-edge"],
    ["cloud", "hello-cloud"],
  ]);
});

test("rejects an unknown deployment, and a cluster without it", async () => {
  const { access } = setUp();
  await expect(access.logs("none" as DeploymentKey, EVERYTHING, signal)).rejects.toThrow('"none"');
  await expect(access.invoke(KEY, REQUEST, { signal, cluster: "far" as ClusterName })).rejects.toThrow("hello in far");
});
