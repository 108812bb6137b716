import { Fault } from "@oaas/foundation";
import { expect, test } from "vitest";
import { assertWritable, namespaceRules, requestedNamespace } from "./namespaces.ts";

const all = { all: true, listed: [] };

test.each([
  { why: "no scope, a context", scope: undefined, context: "shop", pod: undefined, want: ["shop", "shop"] },
  { why: "no scope, no context", scope: undefined, context: "", pod: undefined, want: ["default", "default"] },
  { why: "no scope, in a pod", scope: undefined, context: "oaas", pod: "oaas", want: ["default", "default"] },
  {
    why: "a list: the first is the default",
    scope: { all: false, listed: ["a", "b"] },
    context: "oaas",
    pod: "oaas",
    want: ["a,b", "a"],
  },
  { why: "all: the context is the default", scope: all, context: "shop", pod: undefined, want: ["all", "shop"] },
  { why: "all, in a pod", scope: all, context: "oaas", pod: "oaas", want: ["all", "default"] },
  {
    why: "all and a list",
    scope: { all: true, listed: ["kube-extra"] },
    context: "oaas",
    pod: "oaas",
    want: ["all", "kube-extra"],
  },
])("$why", ({ scope, context, pod, want }) => {
  const { served, fallback } = namespaceRules(scope, { context, pod });
  expect([String(served), fallback]).toEqual(want);
});

test.each([
  { why: "a system namespace", scope: all, namespace: "kube-system", message: "is a system namespace" },
  { why: "the namespace of the pod", scope: all, namespace: "oaas", message: "is the namespace of the manager" },
  { why: "a listed system namespace", scope: { all: true, listed: ["kube-system"] }, namespace: "kube-system" },
  { why: "the listed namespace of the pod", scope: { all: false, listed: ["oaas"] }, namespace: "oaas" },
  { why: "another namespace", scope: all, namespace: "cube-system" },
])("writes in $why", ({ scope, namespace, message }) => {
  const violations = (): unknown => {
    try {
      return assertWritable(namespaceRules(scope, { context: "oaas", pod: "oaas" }), namespace);
    } catch (thrown) {
      return Fault.from(thrown).violations;
    }
  };
  const fix = expect.stringContaining(`OPRC_CRM_K8S_NAMESPACE=*,${namespace}`) as string;
  expect(violations()).toEqual(
    message && [{ path: "$.namespace", message: expect.stringContaining(message) as string, fix }],
  );
});

test.each([
  { why: "no namespace", requested: undefined, want: undefined },
  { why: "an empty namespace", requested: "", want: undefined },
  { why: "a served namespace", requested: "a", want: "a" },
  { why: "a namespace that is not served", requested: "kube-system", want: "failed-precondition" },
  { why: "an invalid name", requested: "../a", want: "invalid-argument" },
])("request with $why", ({ requested, want }) => {
  const result = (): string | undefined => {
    try {
      return requestedNamespace({ served: ["a", "b"], fallback: "a" }, requested);
    } catch (thrown) {
      return Fault.from(thrown).kind;
    }
  };
  expect(result()).toBe(want);
});
