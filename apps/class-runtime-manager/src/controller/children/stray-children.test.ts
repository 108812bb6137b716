import type { ClassRuntime, ClassRuntimeStatus } from "@oaas/contracts/crd";
import { Fault, unavailable } from "@oaas/foundation";
import type { KubeObject, Stored } from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import { expect, test } from "vitest";
import type { LiveChild } from "./child-cache.ts";
import { CORE_CHILD_KINDS, type ChildKind } from "../kinds/resource-types.ts";
import { findStrayChildren } from "./stray-children.ts";
import { CLASS_RUNTIME_KIND } from "../kinds/class-kind.ts";

type Refs = NonNullable<ClassRuntimeStatus["resource_refs"]>;

const SERVICE = kindNamed("Service");
const { signal } = new AbortController();

function kindNamed(name: string): ChildKind {
  const found = CORE_CHILD_KINDS.find(({ kind }) => kind === name);
  if (!found) throw new Error(`no kind ${name}`);
  return found;
}

function service(name: string, uid: string): Stored<KubeObject> {
  return { apiVersion: "v1", kind: "Service", metadata: { namespace: "shop", name, uid, resourceVersion: "1" } };
}

function refTo({ apiVersion, kind, metadata: { name, uid } }: Stored<KubeObject>): Refs[number] {
  return { apiVersion, kind, name, uid };
}

/** Searches the strays of a class whose status lists `refs`; also returns the list requests. */
async function findStrays(
  refs: Refs,
  known: readonly LiveChild[],
  answer: (selector: string) => Stored<KubeObject>[],
  more: { readonly unconfirmed?: readonly KubeObject[]; readonly ownerless?: readonly Stored<KubeObject>[] } = {},
) {
  const requests: string[] = [];
  const resource = (kind: ChildKind) => ({
    list: async ({ namespace, fieldSelector = "" }: { namespace?: string; fieldSelector?: string }) => {
      requests.push(`${kind.kind} ${namespace} ${fieldSelector}`);
      return { items: answer(fieldSelector) };
    },
  });
  const object = {
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { namespace: "shop", name: "order", uid: "class", resourceVersion: "1" },
    spec: {},
    status: { resource_refs: refs },
  } as unknown as Stored<ClassRuntime & KubeObject>;
  const client = { resource } as unknown as KubeClient;
  const ownerless = (more.ownerless ?? []).map((each) => ({ kind: SERVICE, object: each }));
  const children = { kinds: CORE_CHILD_KINDS, listOwnerless: () => ownerless };
  const deps = { classKind: CLASS_RUNTIME_KIND, children, client };
  const found = await findStrayChildren(object, { known, unconfirmed: more.unconfirmed ?? [] }, signal, deps);
  return { found: found.map((child) => `${child.kind.kind} ${child.object.metadata.name}`), requests };
}

const A = service("a", "uid-a");
const B = service("b", "uid-b");

test("sends no request when all children are known", async () => {
  const known = [A, B].map((object) => ({ kind: SERVICE, object }));
  expect(await findStrays([A, B].map(refTo), known, () => [])).toEqual({ found: [], requests: [] });
});

test("finds an unknown child of the status by its name", async () => {
  const known = [{ kind: SERVICE, object: A }];
  expect(await findStrays([A, B].map(refTo), known, () => [B])).toEqual({
    found: ["Service b"],
    requests: ["Service shop metadata.name=b"],
  });
});

const NOT_FOUND: readonly { case: string; refs: Refs; live: Stored<KubeObject>[] }[] = [
  { case: "it was deleted", refs: [refTo(A)], live: [] },
  { case: "another object has its name", refs: [refTo(A)], live: [service("a", "another")] },
  { case: "the status has no uid", refs: [{ apiVersion: "v1", kind: "Service", name: "a" }], live: [A] },
  {
    case: "the API server does not serve its kind",
    refs: [{ ...refTo(A), apiVersion: "serving.knative.dev/v1" }],
    live: [A],
  },
];

test.each(NOT_FOUND)("finds nothing when $case", async ({ refs, live }) => {
  expect((await findStrays(refs, [], () => live)).found).toEqual([]);
});

/** A Service that we applied, with the given metadata. */
function applied(over: Partial<Stored<KubeObject>["metadata"]>): Stored<KubeObject> {
  const managedFields = [{ manager: "oprc-crm", operation: "Apply" as const }];
  return { ...A, metadata: { ...A.metadata, managedFields, ...over } };
}

const owner = (uid: string) => ({
  apiVersion: "oaas.io/v1alpha1",
  kind: "ClassRuntime",
  name: "x",
  uid,
  controller: true,
});
const UNCONFIRMED: readonly { case: string; live: Stored<KubeObject>; ours: boolean }[] = [
  { case: "it has our owner reference", live: applied({ ownerReferences: [owner("class")] }), ours: true },
  { case: "it has no owner and we applied it", live: applied({}), ours: true },
  {
    case: "it has no owner, we applied it, and it has our label",
    live: applied({ labels: { "oaas.io/owner": "order" } }),
    ours: true,
  },
  { case: "it has the label of another class", live: applied({ labels: { "oaas.io/owner": "cart" } }), ours: false },
  { case: "it has another controller", live: applied({ ownerReferences: [owner("another")] }), ours: false },
  {
    case: "another manager applied it",
    live: applied({ managedFields: [{ manager: "x", operation: "Apply" }] }),
    ours: false,
  },
  {
    case: "our manager only updated it",
    live: applied({ managedFields: [{ manager: "oprc-crm", operation: "Update" }] }),
    ours: false,
  },
];

test.each(UNCONFIRMED)("ours is $ours for an unconfirmed child: $case", async ({ live, ours }) => {
  const found = ours ? ["Service a"] : [];
  expect(await findStrays([], [], () => [live], { unconfirmed: [A] })).toEqual({
    found,
    requests: ["Service shop metadata.name=a"],
  });
  expect((await findStrays([], [], () => [live], { ownerless: [A] })).found).toEqual(found);
});

test("reads a candidate once although it is listed, unconfirmed and ownerless", async () => {
  const { requests } = await findStrays([refTo(A)], [], () => [A], { unconfirmed: [A], ownerless: [A] });
  expect(requests).toEqual(["Service shop metadata.name=a"]);
});

test("ignores missing permissions and throws any other fault", async () => {
  const forbidden = new Fault({ kind: "permission-denied", action: "list services" }, "may not list services");
  const failing = (fault: Fault) => () => {
    throw fault;
  };
  expect((await findStrays([refTo(A)], [], failing(forbidden))).found).toEqual([]);
  await expect(findStrays([refTo(A)], [], failing(unavailable("API server", "down")))).rejects.toThrow("down");
});
