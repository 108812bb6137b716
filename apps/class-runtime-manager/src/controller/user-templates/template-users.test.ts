import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { KubeObject, Stored } from "@oaas/kube-core";
import type { Change, InformerView } from "@oaas/kube-runtime";
import { expect, test } from "vitest";
import { templateKey, TemplateUsers } from "./template-users.ts";

type ClassObject = KubeObject & { readonly status?: ClassRuntimeStatus };

function setUp() {
  let notify: (change: Change<ClassObject>) => void = () => undefined;
  const view: Pick<InformerView<ClassObject>, "onChange"> = {
    onChange: (handler) => {
      notify = handler;
      return () => undefined;
    },
  };
  const users = new TemplateUsers();
  users.watch("ClassRuntime", view as InformerView<ClassObject>, ({ status }) => status);
  const enqueued: string[] = [];
  users.releasedSource("ClassRuntime")(({ name }) => enqueued.push(name));
  users.releasedSource("DeploymentRecord")(({ name }) => enqueued.push(`record ${name}`));
  const changed: string[] = [];
  users.changedSource((template) => [{ namespace: "shop", name: template }])(({ name }) => changed.push(name));
  const object = (name: string, status?: ClassRuntimeStatus): Stored<ClassObject> => ({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name, namespace: "shop", uid: name, resourceVersion: "1" },
    ...(status ? { status } : {}),
  });
  /** Reports the revision and phase of a class. */
  const report = (
    name: string,
    revision: string,
    phase: ClassRuntimeStatus["phase"] = "available",
    id = "mine",
  ): void =>
    notify({ type: "added", object: object(name, { phase, template: { name: id, basis: "explicit", revision } }) });
  const remove = (name: string): void => notify({ type: "deleted", object: object(name) });
  const takeEnqueued = (): string[] => enqueued.splice(0).sort();
  return { users, report, remove, takeEnqueued, changed, mine: templateKey("shop", "mine") };
}

test("enqueues classes one after another as each may move", () => {
  const { users, report, takeEnqueued, mine } = setUp();
  for (const name of ["a", "b", "c"]) report(name, "1");
  expect([...users.plan(mine, "2").mayUpdate]).toEqual(["ClassRuntime shop/a"]);
  report("a", "2", "progressing");
  expect(takeEnqueued()).toEqual([]);
  report("a", "2");
  expect(takeEnqueued()).toEqual(["b"]);
  report("b", "2");
  expect(takeEnqueued()).toEqual(["c"]);
});

test("enqueues all waiting classes when a class fails, recovers or is deleted", () => {
  const { users, report, remove, takeEnqueued, mine } = setUp();
  for (const name of ["a", "b", "c"]) report(name, "1");
  users.plan(mine, "2");
  report("a", "2", "degraded");
  expect(takeEnqueued()).toEqual(["b", "c"]);
  expect(users.plan(mine, "2").haltedBy).toBe("ClassRuntime shop/a");
  report("a", "2");
  expect(takeEnqueued()).toEqual(["b", "c"]);
  report("b", "2", "degraded");
  expect(takeEnqueued()).toEqual(["c"]);
  remove("b");
  expect(takeEnqueued()).toEqual(["c"]);
});

test("counts users by template and ignores a repeated report", () => {
  const { users, report, remove, changed, mine } = setUp();
  report("a", "1");
  report("a", "1");
  expect([users.usersOf(mine).length, changed.length]).toEqual([1, 1]);
  report("a", "7", "available", "other");
  expect([users.usersOf(mine).length, users.usersOf(templateKey("shop", "other")).length]).toEqual([0, 1]);
  remove("a");
  expect(users.usersOf(templateKey("shop", "other"))).toEqual([]);
});
