import { Fault } from "@oaas/foundation";
import { expect, test } from "vitest";
import {
  assertWritable,
  defaultNamespace,
  namespaceRules,
  rejectedNamespaces,
  requestedNamespace,
  requireDefaultNamespace,
} from "./namespaces.ts";

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
    scope: { all: true, listed: ["classes"] },
    context: "oaas",
    pod: "oaas",
    want: ["all", "classes"],
  },
  {
    case: "all and a system namespace, which is never the default",
    scope: { all: true, listed: ["kube-extra", "oaas"] },
    context: "oaas",
    pod: "oaas",
    want: ["all", "default"],
  },
  {
    case: "a list that starts with the namespace of the pod",
    scope: { all: false, listed: ["oaas", "classes"] },
    context: "oaas",
    pod: "oaas",
    want: ["oaas,classes", "classes"],
  },
  {
    case: "a list of the namespace of the pod only: no default",
    scope: { all: false, listed: ["oaas"] },
    context: "oaas",
    pod: "oaas",
    want: ["oaas", undefined],
  },
])("$case", ({ scope, context, pod, want }) => {
  const rules = namespaceRules(scope, { context, pod });
  expect([String(rules.served), defaultNamespace(rules)]).toEqual(want);
});

test("a request must name its namespace if no served one may be the default", () => {
  const rules = namespaceRules({ all: false, listed: ["oaas"] }, { context: "oaas", pod: "oaas" });
  expect(() => requireDefaultNamespace(rules)).toThrow(
    expect.objectContaining({
      violations: [expect.objectContaining({ path: "$.namespace", fix: "set it to one of oaas" })],
    }),
  );
});

test.each([
  { scope: all, want: ["oaas"] },
  { scope: { all: true, listed: ["oaas"] }, want: [] },
  { scope: { all: false, listed: ["oaas"] }, want: [] },
])("reports the rejected namespaces of $scope", ({ scope, want }) => {
  expect(rejectedNamespaces(namespaceRules(scope, { context: "oaas", pod: "oaas" }))).toEqual(want);
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
  { case: "a namespace that is not served", requested: "kube-system", want: "invalid-argument" },
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
