import { Fault } from "@oaas/foundation";
import { expect, test } from "vitest";
import { namespaceRules, requestedNamespace } from "./namespaces.ts";

test.each([
  { why: "nothing said, in a pod", scope: undefined, own: "oaas", want: { served: ["oaas"], fallback: "oaas" } },
  {
    why: "nothing said anywhere",
    scope: undefined,
    own: undefined,
    want: { served: ["default"], fallback: "default" },
  },
  { why: "a list: the first is meant", scope: ["a", "b"], own: "oaas", want: { served: ["a", "b"], fallback: "a" } },
  { why: "all: the pod's own is meant", scope: "all", own: "oaas", want: { served: "all", fallback: "oaas" } },
] as const)("$why", ({ scope, own, want }) => {
  expect(namespaceRules(scope, own)).toEqual(want);
});

test.each([
  { why: "none", asked: undefined, want: undefined },
  { why: "an empty one is none", asked: "", want: undefined },
  { why: "a served one", asked: "a", want: "a" },
  { why: "one that is not served", asked: "kube-system", want: "failed-precondition" },
  { why: "no name at all", asked: "../a", want: "invalid-argument" },
])("a request for $why", ({ asked, want }) => {
  const answer = (): string | undefined => {
    try {
      return requestedNamespace({ served: ["a", "b"], fallback: "a" }, asked);
    } catch (thrown) {
      return Fault.from(thrown).kind;
    }
  };
  expect(answer()).toBe(want);
});
