import type { ClassRuntime, ClassRuntimeStatus } from "@oaas/contracts/crd";
import { Fault, unavailable } from "@oaas/foundation";
import type { KubeObject, Stored } from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import { expect, test } from "vitest";
import type { PresentChild } from "./child-cache.ts";
import { CORE_CHILD_KINDS, type ChildKind } from "../kinds/resource-types.ts";
import { strayChildren } from "./stray-children.ts";
import { CLASS_RUNTIME_SUBJECT } from "../kinds/class-kind.ts";

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

/** What is found of a class whose status names these, and which lists that took. */
async function lookFor(
  refs: Refs,
  known: readonly PresentChild[],
  answer: (selector: string) => Stored<KubeObject>[],
  more: { readonly sent?: readonly KubeObject[]; readonly ownerless?: readonly Stored<KubeObject>[] } = {},
) {
  const asked: string[] = [];
  const resource = (kind: ChildKind) => ({
    list: async ({ namespace, fieldSelector = "" }: { namespace?: string; fieldSelector?: string }) => {
      asked.push(`${kind.kind} ${namespace} ${fieldSelector}`);
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
  const children = { kinds: CORE_CHILD_KINDS, ownerless: () => ownerless };
  const deps = { subject: CLASS_RUNTIME_SUBJECT, children, client };
  const found = await strayChildren(object, { known, sent: more.sent ?? [] }, signal, deps);
  return { found: found.map((child) => `${child.kind.kind} ${child.object.metadata.name}`), asked };
}

const A = service("a", "uid-a");
const B = service("b", "uid-b");

test("a class whose children are all known asks for nothing", async () => {
  const known = [A, B].map((object) => ({ kind: SERVICE, object }));
  expect(await lookFor([A, B].map(refTo), known, () => [])).toEqual({ found: [], asked: [] });
});

test("one that nobody knows of is asked for by its name, and found", async () => {
  const known = [{ kind: SERVICE, object: A }];
  expect(await lookFor([A, B].map(refTo), known, () => [B])).toEqual({
    found: ["Service b"],
    asked: ["Service shop metadata.name=b"],
  });
});

const NOT_FOUND: readonly { why: string; refs: Refs; there: Stored<KubeObject>[] }[] = [
  { why: "it is gone", refs: [refTo(A)], there: [] },
  { why: "a namesake is there", refs: [refTo(A)], there: [service("a", "another")] },
  { why: "nobody noted its uid", refs: [{ apiVersion: "v1", kind: "Service", name: "a" }], there: [A] },
  {
    why: "its kind is no longer served",
    refs: [{ ...refTo(A), apiVersion: "serving.knative.dev/v1" }],
    there: [A],
  },
];

test.each(NOT_FOUND)("none is found when $why", async ({ refs, there }) => {
  expect((await lookFor(refs, [], () => there)).found).toEqual([]);
});

/** As we once applied it, with what is left of its owner and label. */
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
const SENT: readonly { why: string; there: Stored<KubeObject>; ours: boolean }[] = [
  { why: "it names the class", there: applied({ ownerReferences: [owner("class")] }), ours: true },
  { why: "it names nobody, and we applied it", there: applied({}), ours: true },
  { why: "the same, with the label left", there: applied({ labels: { "oaas.io/owner": "order" } }), ours: true },
  { why: "it bears another class's label", there: applied({ labels: { "oaas.io/owner": "cart" } }), ours: false },
  { why: "somebody else controls it", there: applied({ ownerReferences: [owner("another")] }), ours: false },
  {
    why: "somebody else applied it",
    there: applied({ managedFields: [{ manager: "x", operation: "Apply" }] }),
    ours: false,
  },
  {
    why: "we only touched it",
    there: applied({ managedFields: [{ manager: "oprc-crm", operation: "Update" }] }),
    ours: false,
  },
];

test.each(SENT)("what was sent and status does not name: ours is $ours when $why", async ({ there, ours }) => {
  const found = ours ? ["Service a"] : [];
  expect(await lookFor([], [], () => [there], { sent: [A] })).toEqual({
    found,
    asked: ["Service shop metadata.name=a"],
  });
  expect((await lookFor([], [], () => [there], { ownerless: [A] })).found).toEqual(found);
});

test("what is named, sent and ownerless is asked for once", async () => {
  const { asked } = await lookFor([refTo(A)], [], () => [A], { sent: [A], ownerless: [A] });
  expect(asked).toEqual(["Service shop metadata.name=a"]);
});

test("what may not be read is nowhere to be seen; any other fault is thrown", async () => {
  const refused = new Fault({ kind: "permission-denied", action: "list services" }, "may not list services");
  const failing = (fault: Fault) => () => {
    throw fault;
  };
  expect((await lookFor([refTo(A)], [], failing(refused))).found).toEqual([]);
  await expect(lookFor([refTo(A)], [], failing(unavailable("API server", "down")))).rejects.toThrow("down");
});
