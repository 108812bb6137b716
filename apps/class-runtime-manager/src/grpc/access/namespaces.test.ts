import { Fault } from "@oaas/foundation";
import { expect, test } from "vitest";
import { namespaceRules, requestedNamespace } from "./namespaces.ts";

test.each([
  { why: "no scope, in a pod", scope: undefined, own: "oaas", want: { served: ["oaas"], fallback: "oaas" } },
  {
    why: "no scope, no own namespace",
    scope: undefined,
    own: undefined,
    want: { served: ["default"], fallback: "default" },
  },
  {
    why: "a list: the first is the default",
    scope: ["a", "b"],
    own: "oaas",
    want: { served: ["a", "b"], fallback: "a" },
  },
  {
    why: "all: the own namespace is the default",
    scope: "all",
    own: "oaas",
    want: { served: "all", fallback: "oaas" },
  },
] as const)("$why", ({ scope, own, want }) => {
  expect(namespaceRules(scope, own)).toEqual(want);
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
