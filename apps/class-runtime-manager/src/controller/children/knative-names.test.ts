import type { KubeObject, Stored } from "@oaas/kube-core";
import { expect, test } from "vitest";
import type { Manifest } from "../../templates/index.ts";
import type { LiveChild } from "./child-cache.ts";
import { CORE_CHILD_KINDS, OPTIONAL_CHILD_KINDS } from "../kinds/resource-types.ts";
import { resolveNameConflicts } from "./knative-names.ts";

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
const child = (apiVersion: string, kind: string, name: string): LiveChild => {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  const found = [...CORE_CHILD_KINDS, ...OPTIONAL_CHILD_KINDS].find((one) => one.group === group && one.kind === kind);
  if (found === undefined) throw new Error(`no kind ${apiVersion} ${kind}`);
  return { kind: found, object: object(apiVersion, kind, name) };
};

test.each([
  {
    case: "applies everything when no child exists",
    desired: ["v1", "apps/v1 Deployment"],
    live: [],
    applicable: 2,
    blocked: [],
    blocking: 0,
  },
  {
    case: "moving from Knative: deletes the Knative Service first and applies the workload at once",
    desired: ["v1", "apps/v1 Deployment"],
    live: [child(KNATIVE, "Service", "order")],
    applicable: 1,
    blocked: ["waits until the serving.knative.dev/v1 Service of the previous template is deleted"],
    blocking: 1,
  },
  {
    case: "moving to Knative: deletes our Service first",
    desired: [KNATIVE],
    live: [child("v1", "Service", "order"), child("apps/v1", "Deployment", "order")],
    applicable: 0,
    blocked: ["waits until the v1 Service of the previous template is deleted"],
    blocking: 1,
  },
  {
    case: "waits for the Service that Knative created, without deleting it",
    desired: ["v1"],
    live: [],
    foreign: object("v1", "Service", "order", "Route"),
    applicable: 0,
    blocked: ["waits until the v1 Service created by Knative is deleted"],
    blocking: 0,
  },
  {
    case: "ignores the Service that Knative created for its own Service",
    desired: [KNATIVE],
    live: [child(KNATIVE, "Service", "order")],
    foreign: object("v1", "Service", "order", "Route"),
    applicable: 1,
    blocked: [],
    blocking: 0,
  },
  {
    case: "ignores the Service of another function",
    desired: ["v1"],
    live: [child(KNATIVE, "Service", "order-fn-1")],
    applicable: 1,
    blocked: [],
    blocking: 0,
  },
  {
    case: "applies an existing Service although its twin still exists",
    desired: ["v1"],
    live: [child("v1", "Service", "order"), child(KNATIVE, "Service", "order")],
    applicable: 1,
    blocked: [],
    blocking: 0,
  },
])("$case", ({ desired, live, foreign, applicable, blocked, blocking }) => {
  const manifests = desired.map((text): Manifest => {
    const [apiVersion = "", kind = "Service"] = text.split(" ");
    return { apiVersion, kind, metadata: { name: "order", namespace: "shop" } };
  });
  const names = resolveNameConflicts(manifests, live, () => foreign);
  expect([names.applicable.length, names.blocking.length]).toEqual([applicable, blocking]);
  expect(names.blocked.map(({ message }) => message)).toEqual(blocked);
});
