import type { KubeObject, Stored } from "@oaas/kube-core";
import { expect, test } from "vitest";
import type { Manifest } from "../../templates/index.ts";
import type { PresentChild } from "./child-cache.ts";
import { CORE_CHILD_KINDS, OPTIONAL_CHILD_KINDS } from "../kinds/resource-types.ts";
import { nameTurns } from "./knative-names.ts";

const KNATIVE = "serving.knative.dev/v1";

const object = (apiVersion: string, kind: string, name: string, owner = "ClassRuntime"): Stored<KubeObject> => ({
  apiVersion,
  kind,
  metadata: {
    name,
    namespace: "shop",
    uid: `${apiVersion}-${name}`,
    resourceVersion: "1",
    ownerReferences: [
      { apiVersion: owner === "Route" ? KNATIVE : "oaas.io/v1alpha1", kind: owner, name, uid: "o", controller: true },
    ],
  },
});
const ours = (apiVersion: string, kind: string, name: string): PresentChild => {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  const found = [...CORE_CHILD_KINDS, ...OPTIONAL_CHILD_KINDS].find((one) => one.group === group && one.kind === kind);
  if (found === undefined) throw new Error(`no kind ${apiVersion} ${kind}`);
  return { kind: found, object: object(apiVersion, kind, name) };
};

test.each([
  { why: "nothing is there", wanted: ["v1", "apps/v1 Deployment"], there: [], free: 2, waits: [], goes: 0 },
  {
    why: "from Knative: its Service goes first, the workload need not wait",
    wanted: ["v1", "apps/v1 Deployment"],
    there: [ours(KNATIVE, "Service", "order")],
    free: 1,
    waits: ["waits until the serving.knative.dev/v1 Service of the former template is gone"],
    goes: 1,
  },
  {
    why: "to Knative: our Service goes first",
    wanted: [KNATIVE],
    there: [ours("v1", "Service", "order"), ours("apps/v1", "Deployment", "order")],
    free: 0,
    waits: ["waits until the v1 Service of the former template is gone"],
    goes: 1,
  },
  {
    why: "what Knative made for the name is waited for, and not touched",
    wanted: ["v1"],
    there: [],
    foreign: object("v1", "Service", "order", "Route"),
    free: 0,
    waits: ["waits until the v1 Service that Knative made is gone"],
    goes: 0,
  },
  {
    why: "with Knative in use, its own Service is in nobody's way",
    wanted: [KNATIVE],
    there: [ours(KNATIVE, "Service", "order")],
    foreign: object("v1", "Service", "order", "Route"),
    free: 1,
    waits: [],
    goes: 0,
  },
  {
    why: "another function's name is another name",
    wanted: ["v1"],
    there: [ours(KNATIVE, "Service", "order-fn-1")],
    free: 1,
    waits: [],
    goes: 0,
  },
  {
    why: "ours is there already: the stale twin is mere surplus",
    wanted: ["v1"],
    there: [ours("v1", "Service", "order"), ours(KNATIVE, "Service", "order")],
    free: 1,
    waits: [],
    goes: 0,
  },
])("$why", ({ wanted, there, foreign, free, waits, goes }) => {
  const manifests = wanted.map((text): Manifest => {
    const [apiVersion = "", kind = "Service"] = text.split(" ");
    return { apiVersion, kind, metadata: { name: "order", namespace: "shop" } };
  });
  const turns = nameTurns(manifests, there, () => foreign);
  expect([turns.free.length, turns.inTheWay.length]).toEqual([free, goes]);
  expect(turns.waiting.map(({ message }) => message)).toEqual(waits);
});
