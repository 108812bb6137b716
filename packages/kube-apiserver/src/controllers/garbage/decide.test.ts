import { expect, test } from "vitest";
import type { KubeObject, Stored } from "@oaas/kube-core";
import { CONFIG_MAPS } from "../objects/resources.ts";
import { decideGarbage, type OwnerFound } from "./decide.ts";

type Meta = Partial<KubeObject["metadata"]>;

const object = (name: string, metadata: Meta = {}): Stored<KubeObject> => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default", uid: `uid-${name}`, resourceVersion: "7", ...metadata },
});

const owner = (name: string, block = true): NonNullable<Meta["ownerReferences"]>[number] => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name,
  uid: `uid-${name}`,
  blockOwnerDeletion: block,
});

const going = (...finalizers: string[]): Meta => ({ deletionTimestamp: "2026-01-01T00:00:00Z", finalizers });

interface Row {
  readonly why: string;
  readonly meta: Meta;
  readonly owners?: Readonly<Record<string, OwnerFound>>;
  readonly dependents?: readonly Stored<KubeObject>[];
  readonly steps: readonly string[];
}

const rows: readonly Row[] = [
  { why: "nobody owns it", meta: {}, steps: [] },
  { why: "its owner is there", meta: { ownerReferences: [owner("o")] }, owners: { o: object("o") }, steps: [] },
  {
    why: "its owner is gone",
    meta: { ownerReferences: [owner("o")] },
    owners: { o: "missing" },
    steps: ["delete x Background @7"],
  },
  {
    why: "of its owner nothing can be known",
    meta: { ownerReferences: [owner("o"), owner("p")] },
    owners: { o: "unknown", p: "missing" },
    steps: [],
  },
  {
    why: "one of two owners is gone",
    meta: { ownerReferences: [owner("o"), owner("p")] },
    owners: { o: "missing", p: object("p") },
    steps: ["update x owners=p"],
  },
  {
    why: "its owner waits for it, and nobody waits for it in turn",
    meta: { ownerReferences: [owner("o")] },
    owners: { o: object("o", going("foregroundDeletion")) },
    steps: ["delete x Background @7"],
  },
  {
    why: "its owner waits for it, and it has dependents of its own",
    meta: { ownerReferences: [owner("o")] },
    owners: { o: object("o", going("foregroundDeletion")) },
    dependents: [object("d", { ownerReferences: [owner("x")] })],
    steps: ["delete x Foreground @7"],
  },
  {
    why: "a circle of those who wait for each other: nobody blocks any more",
    meta: { ownerReferences: [owner("o")] },
    owners: { o: object("o", going("foregroundDeletion")) },
    dependents: [object("d", { ownerReferences: [owner("x")], ...going("foregroundDeletion") })],
    steps: ["update x owners=o(free)", "delete x Foreground"],
  },
  {
    why: "an owner that goes in the background still counts as there",
    meta: { ownerReferences: [owner("o")] },
    owners: { o: object("o", going("example.test/hold")) },
    steps: [],
  },
  {
    why: "it was to be orphaned before its owner went",
    meta: { ownerReferences: [owner("o")], finalizers: ["orphan"] },
    owners: { o: "missing" },
    steps: ["delete x Orphan @7"],
  },
  {
    why: "it is on its way out already",
    meta: { ownerReferences: [owner("o")], ...going("example.test/hold") },
    owners: { o: "missing" },
    steps: [],
  },
  { why: "in the foreground, nothing left", meta: going("foregroundDeletion"), steps: ["update x finalizers="] },
  {
    why: "in the foreground, one blocks",
    meta: going("foregroundDeletion", "example.test/hold"),
    dependents: [object("d", { ownerReferences: [owner("x")] })],
    steps: [],
  },
  {
    why: "in the foreground, one does not block; others' finalizers stay",
    meta: going("foregroundDeletion", "example.test/hold"),
    dependents: [object("d", { ownerReferences: [owner("x", false)] })],
    steps: ["update x finalizers=example.test/hold"],
  },
  {
    why: "orphaned: dependents forget it first",
    meta: going("orphan"),
    dependents: [object("d", { ownerReferences: [owner("x"), owner("y")] })],
    steps: ["update d owners=y", "update x finalizers="],
  },
];

test.each(rows)("$why", ({ meta, owners = {}, dependents = [], steps }) => {
  const decided = decideGarbage({
    kind: CONFIG_MAPS,
    object: object("x", meta),
    ownerOf: ({ name }) => owners[name] ?? "missing",
    dependents: dependents.map((one) => ({ kind: CONFIG_MAPS, object: one })),
  });
  const texts = decided.steps.map((step) => {
    if (step.do === "delete") {
      const version = step.options.resourceVersion;
      return `delete ${step.name.name} ${step.options.propagation}${version === undefined ? "" : ` @${version}`}`;
    }
    if (step.do !== "update") return step.do;
    const {
      name,
      finalizers = [],
      ownerReferences = [],
      deletionTimestamp,
    } = (step.object as unknown as KubeObject).metadata;
    const list = ownerReferences.map((one) => `${one.name}${one.blockOwnerDeletion ? "" : "(free)"}`);
    return deletionTimestamp === undefined
      ? `update ${name} owners=${list.join()}`
      : `update ${name} finalizers=${finalizers.join()}`;
  });
  expect(texts).toEqual(steps);
});
