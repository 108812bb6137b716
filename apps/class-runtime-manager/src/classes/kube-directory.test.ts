import type { KubeObject, Stored } from "@oaas/kube-core";
import { Fault } from "@oaas/foundation";
import { VirtualTime } from "@oaas/foundation/virtual";
import type { Change, InformerView } from "@oaas/kube-runtime";
import { expect, test } from "vitest";
import { KubeClassDirectory, ignoreForbidden } from "./kube-directory.ts";
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

function setUp() {
  let notify: (change: Change<KubeObject>) => void = () => undefined;
  const informer = {
    isSynced: true,
    onChange: (handler: (change: Change<KubeObject>) => void) => {
      notify = handler;
      return () => undefined;
    },
  };
  const time = new VirtualTime();
  const directory = new KubeClassDirectory([informer], time);
  const changes: string[] = [];
  directory.onChange(({ type, object: { metadata } }: ClassChange) => changes.push(`${type} ${metadata.name}`));
  const generations = (id: string) => directory.find(id).map(({ metadata }) => metadata.generation);
  return { time, directory, changes, generations, notify: (change: Change<KubeObject>) => notify(change) };
}

test("indexes objects by id, also when the id changes", () => {
  const { directory, changes, notify } = setUp();
  notify({ type: "added", object: object("a", { id: "one" }) });
  notify({ type: "updated", object: object("a", { id: "two", generation: 2 }), previous: object("a", { id: "one" }) });
  expect([directory.find("one").length, directory.find("two").length, directory.size]).toEqual([0, 1, 1]);
  notify({ type: "deleted", object: object("a", { id: "two", generation: 2 }) });
  expect([directory.find("two").length, directory.size]).toEqual([0, 0]);
  expect(changes).toEqual(["added a", "updated a", "deleted a"]);
});

test("shows an own write before the watch does, and ignores older events", () => {
  const { directory, generations, notify } = setUp();
  notify({ type: "added", object: object("a") });
  directory.recordWrite(object("a", { generation: 3 }));
  expect(generations("a")).toEqual([3]);
  notify({ type: "updated", object: object("a", { generation: 2 }), previous: object("a") });
  expect(generations("a")).toEqual([3]);
  notify({ type: "updated", object: object("a", { generation: 3 }), previous: object("a", { generation: 2 }) });
  notify({ type: "updated", object: object("a", { generation: 4 }), previous: object("a", { generation: 3 }) });
  expect(generations("a")).toEqual([4]);
});

test("forgets a write without a watch event, and ignores a write older than the cache", async () => {
  const { directory, time, generations, notify } = setUp();
  directory.recordWrite(object("lost"));
  expect([generations("lost"), directory.size, [...directory.list()].length]).toEqual([[1], 1, 1]);
  await time.advance(31_000);
  expect([generations("lost"), directory.size]).toEqual([[], 0]);
  notify({ type: "added", object: object("b", { generation: 2 }) });
  directory.recordWrite(object("b", { generation: 1 }));
  expect(generations("b")).toEqual([2]);
});

test("reads objects with nulls, and shows an unreadable object without its spec", () => {
  const { directory, notify } = setUp();
  notify({ type: "added", object: object("a", { spec: { state_spec: {}, odgm_config: null } }) });
  notify({ type: "added", object: object("b", { spec: { functions: null, addons: 7 } }) });
  const [a] = directory.find("a");
  const [b] = directory.find("b");
  expect([a?.spec.odgm_config, b?.spec]).toEqual([undefined, {}]);
});

test("lists records beside class runtimes of the same name and id, class runtimes first", () => {
  const { directory, changes, notify } = setUp();
  const record = {
    apiVersion: "oaas.io/v1alpha1",
    kind: "DeploymentRecord",
    metadata: { name: "a", namespace: "shop", uid: "r-1", generation: 1, resourceVersion: "1" },
    spec: { function: { image: "example.test/fn:1", port: 8080 } },
    status: { phase: "available" },
  } as unknown as Stored<KubeObject>;
  notify({ type: "added", object: record });
  expect(directory.find("a")).toMatchObject([
    { kind: "ClassRuntime", storedAs: "DeploymentRecord", status: { phase: "available" } },
  ]);
  notify({ type: "added", object: object("a") });
  expect(directory.find("a").map(({ storedAs }) => storedAs)).toEqual([undefined, "DeploymentRecord"]);
  expect(directory.size).toBe(2);
  notify({ type: "deleted", object: record });
  expect([directory.size, changes]).toEqual([1, ["added a", "added a", "deleted a"]]);
});

test("a kind without read permission counts as synced", () => {
  const forbidden = {
    isSynced: false,
    fault: new Fault({ kind: "permission-denied", action: "list" }, "no"),
    onChange: () => () => undefined,
  };
  expect(ignoreForbidden(forbidden as unknown as InformerView<KubeObject>).isSynced).toBe(true);
  expect(ignoreForbidden({ ...forbidden, fault: undefined } as unknown as InformerView<KubeObject>).isSynced).toBe(
    false,
  );
});
