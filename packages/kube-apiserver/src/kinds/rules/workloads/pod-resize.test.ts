import { expect, test } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import type { AdmissionContext } from "../../kind.ts";
import { podResize } from "./pod-resize.ts";

/*
 * What the conformance cases cannot show: KWOK does not report the resources of containers, so that the real server
 * rejects a resize on its nodes for that reason.
 */

function pod(cpu: string, metadata: JsonObject = {}, spec: JsonObject = {}): JsonObject {
  const resources = { requests: { cpu }, limits: { cpu: "64" } };
  return { metadata, spec: { nodeName: "n1", containers: [{ name: "main", resources }], ...spec } };
}

const LIVE = pod("100m");

function contextOf(labels: JsonObject = {}): AdmissionContext {
  const node = { metadata: { name: "n1", labels }, status: { allocatable: { cpu: "4", memory: "1Gi" } } };
  return { time: "", uuid: () => "", objects: ({ resource }) => (resource === "nodes" ? [node] : []) };
}

test.each([
  { why: "fits on the node", next: pod("4"), rejection: undefined },
  {
    why: "exceeds the node",
    next: pod("4100m"),
    rejection: {
      reason: "node didn't have enough allocatable resources: cpu, requested: 4100, allocatable: 4000",
      cause: "NodeCapacity",
    },
  },
  {
    why: "names an unknown node",
    next: pod("1", {}, { nodeName: "n2" }),
    rejection: { reason: 'node "n2" not found' },
  },
  { why: "has no node yet", next: pod("8", {}, { nodeName: "" }), rejection: undefined },
])("a resize that $why", ({ next, rejection }) => {
  expect(podResize.rejection(next, LIVE, contextOf())).toEqual(rejection);
});

test("rejects a resize on a node that does not run Linux", () => {
  expect(podResize.rejection(pod("1"), LIVE, contextOf({ "kubernetes.io/os": "windows" }))).toEqual({
    reason: 'pod resize is only supported on linux nodes, node "n1" is "windows"',
    cause: "UnsupportedPlatform",
  });
});

test.each([
  { why: "static", live: pod("1", { annotations: { "kubernetes.io/config.mirror": "x" } }), what: "static pods" },
  { why: "a Windows pod", live: pod("1", {}, { os: { name: "windows" } }), what: "windows pods" },
])("rejects the resize of a pod that is $why", ({ live, what }) => {
  expect(podResize.updateErrors(pod("2"), live)).toEqual([
    { reason: "FieldValueForbidden", field: "", message: `Forbidden: ${what} cannot be resized` },
  ]);
});

test("rejects a change of the resources of the whole pod", () => {
  const next = pod("100m", {}, { resources: { requests: { cpu: "2" } } });
  const selected = { ...next, spec: podResize.selectSpec(next, LIVE, contextOf()) };
  expect(podResize.updateErrors(selected, LIVE)).toMatchObject([
    { field: "spec", message: "Forbidden: only cpu and memory resources are mutable" },
  ]);
});
