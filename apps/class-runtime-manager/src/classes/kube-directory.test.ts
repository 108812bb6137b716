import type { KubeObject, Stored } from "@oaas/kube-core";
import { Fault } from "@oaas/foundation";
import { VirtualTime } from "@oaas/foundation/virtual";
import type { Change, InformerView } from "@oaas/kube-runtime";
import { expect, test } from "vitest";
import { KubeClassDirectory, whereAllowed } from "./kube-directory.ts";
import type { ClassChange, StoredClass } from "./ports.ts";

function object(name: string, over: { uid?: string; generation?: number; id?: string; spec?: object } = {}) {
  const { uid = "u-1", generation = 1, id = name, spec = {} } = over;
  return {
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name, namespace: "shop", uid, generation, resourceVersion: `${uid}-${generation}` },
    spec: { origin: { deployment_id: id }, ...spec },
  } as unknown as StoredClass & Stored<KubeObject>;
}

function world() {
  let tell: (change: Change<KubeObject>) => void = () => undefined;
  const informer = {
    isSynced: true,
    onChange: (handler: (change: Change<KubeObject>) => void) => {
      tell = handler;
      return () => undefined;
    },
  };
  const time = new VirtualTime();
  const directory = new KubeClassDirectory([informer], time);
  const changes: string[] = [];
  directory.onChange(({ type, object: { metadata } }: ClassChange) => changes.push(`${type} ${metadata.name}`));
  const generations = (id: string) => directory.find(id).map(({ metadata }) => metadata.generation);
  return { time, directory, changes, generations, tell: (change: Change<KubeObject>) => tell(change) };
}

test("follows the cache, by id too when it changes", () => {
  const { directory, changes, tell } = world();
  tell({ type: "added", object: object("a", { id: "one" }) });
  tell({ type: "updated", object: object("a", { id: "two", generation: 2 }), previous: object("a", { id: "one" }) });
  expect([directory.find("one").length, directory.find("two").length, directory.size]).toEqual([0, 1, 1]);
  tell({ type: "deleted", object: object("a", { id: "two", generation: 2 }) });
  expect([directory.find("two").length, directory.size]).toEqual([0, 0]);
  expect(changes).toEqual(["added a", "updated a", "deleted a"]);
});

test("our own write is found before the watch tells of it, and older news does not hide it", () => {
  const { directory, generations, tell } = world();
  tell({ type: "added", object: object("a") });
  directory.noteWritten(object("a", { generation: 3 }));
  expect(generations("a")).toEqual([3]);
  tell({ type: "updated", object: object("a", { generation: 2 }), previous: object("a") });
  expect(generations("a")).toEqual([3]);
  tell({ type: "updated", object: object("a", { generation: 3 }), previous: object("a", { generation: 2 }) });
  tell({ type: "updated", object: object("a", { generation: 4 }), previous: object("a", { generation: 3 }) });
  expect(generations("a")).toEqual([4]);
});

test("a write that is never confirmed is forgotten; one that was confirmed already is not kept", async () => {
  const { directory, time, generations, tell } = world();
  directory.noteWritten(object("ghost"));
  expect([generations("ghost"), directory.size, [...directory.list()].length]).toEqual([[1], 1, 1]);
  await time.advance(31_000);
  expect([generations("ghost"), directory.size]).toEqual([[], 0]);
  tell({ type: "added", object: object("b", { generation: 2 }) });
  directory.noteWritten(object("b", { generation: 1 }));
  expect(generations("b")).toEqual([2]);
});

test("what an earlier manager wrote with nulls is read; what cannot be read shows without its spec", () => {
  const { directory, tell } = world();
  tell({ type: "added", object: object("a", { spec: { state_spec: {}, odgm_config: null } }) });
  tell({ type: "added", object: object("b", { spec: { functions: null, addons: 7 } }) });
  const [a] = directory.find("a");
  const [b] = directory.find("b");
  expect([a?.spec.odgm_config, b?.spec]).toEqual([undefined, {}]);
});

test("records stand beside class runtimes, also of the same name and id; class runtimes come first", () => {
  const { directory, changes, tell } = world();
  const record = {
    apiVersion: "oaas.io/v1alpha1",
    kind: "DeploymentRecord",
    metadata: { name: "a", namespace: "shop", uid: "r-1", generation: 1, resourceVersion: "1" },
    spec: { function: { image: "example.test/fn:1", port: 8080 } },
    status: { phase: "available" },
  } as unknown as Stored<KubeObject>;
  tell({ type: "added", object: record });
  expect(directory.find("a")).toMatchObject([
    { kind: "ClassRuntime", writtenAs: "DeploymentRecord", status: { phase: "available" } },
  ]);
  tell({ type: "added", object: object("a") });
  expect(directory.find("a").map(({ writtenAs }) => writtenAs)).toEqual([undefined, "DeploymentRecord"]);
  expect(directory.size).toBe(2);
  tell({ type: "deleted", object: record });
  expect([directory.size, changes]).toEqual([1, ["added a", "added a", "deleted a"]]);
});

test("a kind that we may not read is nothing to wait for", () => {
  const refused = {
    isSynced: false,
    trouble: new Fault({ kind: "permission-denied", action: "list" }, "no"),
    onChange: () => () => undefined,
  };
  expect(whereAllowed(refused as unknown as InformerView<KubeObject>).isSynced).toBe(true);
  expect(whereAllowed({ ...refused, trouble: undefined } as unknown as InformerView<KubeObject>).isSynced).toBe(false);
});
