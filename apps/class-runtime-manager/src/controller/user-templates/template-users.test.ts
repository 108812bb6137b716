import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { KubeObject, Stored } from "@oaas/kube-core";
import type { Change, InformerView } from "@oaas/kube-runtime";
import { expect, test } from "vitest";
import { templateKey, TemplateUsers } from "./template-users.ts";

type Told = KubeObject & { readonly status?: ClassRuntimeStatus };

function setUp() {
  let tell: (change: Change<Told>) => void = () => undefined;
  const view: Pick<InformerView<Told>, "onChange"> = {
    onChange: (handler) => {
      tell = handler;
      return () => undefined;
    },
  };
  const users = new TemplateUsers();
  users.follow("ClassRuntime", view as InformerView<Told>, ({ status }) => status);
  const woken: string[] = [];
  users.turns("ClassRuntime")(({ name }) => woken.push(name));
  users.turns("DeploymentRecord")(({ name }) => woken.push(`record ${name}`));
  const changed: string[] = [];
  users.changes((template) => [{ namespace: "shop", name: template }])(({ name }) => changed.push(name));
  const object = (name: string, status?: ClassRuntimeStatus): Stored<Told> => ({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name, namespace: "shop", uid: name, resourceVersion: "1" },
    ...(status ? { status } : {}),
  });
  /** Class `name` is at a revision of a template, in a phase. */
  const is = (name: string, revision: string, phase: ClassRuntimeStatus["phase"] = "available", id = "mine"): void =>
    tell({ type: "added", object: object(name, { phase, template: { name: id, basis: "explicit", revision } }) });
  const gone = (name: string): void => tell({ type: "deleted", object: object(name) });
  const taken = (): string[] => woken.splice(0).sort();
  return { users, is, gone, taken, changed, mine: templateKey("shop", "mine") };
}

test("classes are woken when their turn comes, one after another, and not before", () => {
  const { users, is, taken, mine } = setUp();
  for (const name of ["a", "b", "c"]) is(name, "1");
  expect([...users.plan(mine, "2").mayMove]).toEqual(["ClassRuntime shop/a"]);
  is("a", "2", "progressing");
  expect(taken()).toEqual([]);
  is("a", "2");
  expect(taken()).toEqual(["b"]);
  is("b", "2");
  expect(taken()).toEqual(["c"]);
});

test("a failure is told to all that wait, and so is that it is over, or that the class is gone", () => {
  const { users, is, gone, taken, mine } = setUp();
  for (const name of ["a", "b", "c"]) is(name, "1");
  users.plan(mine, "2");
  is("a", "2", "degraded");
  expect(taken()).toEqual(["b", "c"]);
  expect(users.plan(mine, "2").haltedBy).toBe("ClassRuntime shop/a");
  is("a", "2");
  expect(taken()).toEqual(["b", "c"]);
  is("b", "2", "degraded");
  expect(taken()).toEqual(["c"]);
  gone("b");
  expect(taken()).toEqual(["c"]);
});

test("users are counted by template; a class that says the same again is no news", () => {
  const { users, is, gone, changed, mine } = setUp();
  is("a", "1");
  is("a", "1");
  expect([users.usersOf(mine).length, changed.length]).toEqual([1, 1]);
  is("a", "7", "available", "other");
  expect([users.usersOf(mine).length, users.usersOf(templateKey("shop", "other")).length]).toEqual([0, 1]);
  gone("a");
  expect(users.usersOf(templateKey("shop", "other"))).toEqual([]);
});
