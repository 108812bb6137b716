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
  readonly case: string;
  readonly meta: Meta;
  readonly owners?: Readonly<Record<string, OwnerFound>>;
  readonly dependents?: readonly Stored<KubeObject>[];
  readonly steps: readonly string[];
}

const rows: readonly Row[] = [
  { case: "no owner", meta: {}, steps: [] },
  { case: "existing owner", meta: { ownerReferences: [owner("o")] }, owners: { o: object("o") }, steps: [] },
  {
    case: "deleted owner",
    meta: { ownerReferences: [owner("o")] },
    owners: { o: "missing" },
    steps: ["delete x Background @7"],
  },
  {
    case: "unknown owner",
    meta: { ownerReferences: [owner("o"), owner("p")] },
    owners: { o: "unknown", p: "missing" },
    steps: [],
  },
  {
    case: "one of two owners deleted",
    meta: { ownerReferences: [owner("o"), owner("p")] },
    owners: { o: "missing", p: object("p") },
    steps: ["update x owners=p"],
  },
  {
    case: "foreground-deleted owner, no dependents",
    meta: { ownerReferences: [owner("o")] },
    owners: { o: object("o", going("foregroundDeletion")) },
    steps: ["delete x Background @7"],
  },
  {
    case: "foreground-deleted owner, with dependents",
    meta: { ownerReferences: [owner("o")] },
    owners: { o: object("o", going("foregroundDeletion")) },
    dependents: [object("d", { ownerReferences: [owner("x")] })],
    steps: ["delete x Foreground @7"],
  },
  {
    case: "cycle of foreground deletions: blockOwnerDeletion is removed",
    meta: { ownerReferences: [owner("o")] },
    owners: { o: object("o", going("foregroundDeletion")) },
    dependents: [object("d", { ownerReferences: [owner("x")], ...going("foregroundDeletion") })],
    steps: ["update x owners=o(free)", "delete x Foreground"],
  },
  {
    case: "background-deleted owner still counts as existing",
    meta: { ownerReferences: [owner("o")] },
    owners: { o: object("o", going("example.test/hold")) },
    steps: [],
  },
  {
    case: "orphaning finalizer before the owner was deleted",
    meta: { ownerReferences: [owner("o")], finalizers: ["orphan"] },
    owners: { o: "missing" },
    steps: ["delete x Orphan @7"],
  },
  {
    case: "already being deleted",
    meta: { ownerReferences: [owner("o")], ...going("example.test/hold") },
    owners: { o: "missing" },
    steps: [],
  },
  { case: "foreground, no dependents left", meta: going("foregroundDeletion"), steps: ["update x finalizers="] },
  {
    case: "foreground, one blocking dependent",
    meta: going("foregroundDeletion", "example.test/hold"),
    dependents: [object("d", { ownerReferences: [owner("x")] })],
    steps: [],
  },
  {
    case: "foreground, one non-blocking dependent; other finalizers stay",
    meta: going("foregroundDeletion", "example.test/hold"),
    dependents: [object("d", { ownerReferences: [owner("x", false)] })],
    steps: ["update x finalizers=example.test/hold"],
  },
  {
    case: "orphan: dependents lose the owner first",
    meta: going("orphan"),
    dependents: [object("d", { ownerReferences: [owner("x"), owner("y")] })],
    steps: ["update d owners=y", "update x finalizers="],
  },
];

test.each(rows)("$case", ({ meta, owners = {}, dependents = [], steps }) => {
  const decided = decideGarbage({
    kind: CONFIG_MAPS,
    object: object("x", meta),
    findOwner: ({ name }) => owners[name] ?? "missing",
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
