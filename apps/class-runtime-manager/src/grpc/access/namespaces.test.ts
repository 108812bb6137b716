import { Fault } from "@oaas/foundation";
import { expect, test } from "vitest";
import { assertWritable, namespaceRules, requestedNamespace } from "./namespaces.ts";

const all = { all: true, listed: [] };

test.each([
  { case: "no scope, a context", scope: undefined, context: "shop", pod: undefined, want: ["shop", "shop"] },
  { case: "no scope, no context", scope: undefined, context: "", pod: undefined, want: ["default", "default"] },
  { case: "no scope, in a pod", scope: undefined, context: "oaas", pod: "oaas", want: ["default", "default"] },
  {
    case: "a list: the first is the default",
    scope: { all: false, listed: ["a", "b"] },
    context: "oaas",
    pod: "oaas",
    want: ["a,b", "a"],
  },
  { case: "all: the context is the default", scope: all, context: "shop", pod: undefined, want: ["all", "shop"] },
  { case: "all, in a pod", scope: all, context: "oaas", pod: "oaas", want: ["all", "default"] },
  {
    case: "all and a list",
    scope: { all: true, listed: ["kube-extra"] },
    context: "oaas",
    pod: "oaas",
    want: ["all", "kube-extra"],
  },
])("$case", ({ scope, context, pod, want }) => {
  const { served, fallback } = namespaceRules(scope, { context, pod });
  expect([String(served), fallback]).toEqual(want);
});

test.each([
  { case: "a system namespace", scope: all, namespace: "kube-system", message: "is a system namespace" },
  { case: "the namespace of the pod", scope: all, namespace: "oaas", message: "is the namespace of the manager" },
  { case: "a listed system namespace", scope: { all: true, listed: ["kube-system"] }, namespace: "kube-system" },
  { case: "the listed namespace of the pod", scope: { all: false, listed: ["oaas"] }, namespace: "oaas" },
  { case: "another namespace", scope: all, namespace: "cube-system" },
])("writes in $case", ({ scope, namespace, message }) => {
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
  { case: "no namespace", requested: undefined, want: undefined },
  { case: "an empty namespace", requested: "", want: undefined },
  { case: "a served namespace", requested: "a", want: "a" },
  { case: "a namespace that is not served", requested: "kube-system", want: "failed-precondition" },
  { case: "an invalid name", requested: "../a", want: "invalid-argument" },
])("request with $case", ({ requested, want }) => {
  const result = (): string | undefined => {
    try {
      return requestedNamespace({ served: ["a", "b"], fallback: "a" }, requested);
    } catch (thrown) {
      return Fault.from(thrown).kind;
    }
  };
  expect(result()).toBe(want);
});
