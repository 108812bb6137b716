import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import { findMissingPermissions } from "./escalation.ts";

const READ = { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] };
const EVERYTHING = [
  { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
  { nonResourceURLs: ["*"], verbs: ["*"] },
];

it.each<[string, JsonObject[], JsonObject[], string[]]>([
  ["the same rule", [READ], [READ], []],
  ["a part of the rule", [{ ...READ, verbs: ["*"] }], [READ], []],
  [
    "one of two verbs",
    [{ ...READ, verbs: ["get"] }],
    [READ],
    ['{APIGroups:[""], Resources:["configmaps"], Verbs:["list"]}'],
  ],
  [
    "combined verbs, separate resources",
    [],
    [{ ...READ, resources: ["a", "b"] }],
    [
      '{APIGroups:[""], Resources:["a"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["b"], Verbs:["get" "list"]}',
    ],
  ],
  [
    "any name covers one name",
    [{ ...READ, resourceNames: ["a"] }],
    [{ ...READ, verbs: ["get"] }],
    ['{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}'],
  ],
  ["one name does not cover any name", [READ], [{ ...READ, resourceNames: ["a"] }], []],
  [
    "another name",
    [{ ...READ, resourceNames: ["a"] }],
    [{ ...READ, verbs: ["get"], resourceNames: ["b"] }],
    ['{APIGroups:[""], Resources:["configmaps"], ResourceNames:["b"], Verbs:["get"]}'],
  ],
  [
    "a subresource covered by a wildcard",
    [{ ...READ, resources: ["*/status"] }],
    [{ ...READ, resources: ["pods/status"] }],
    [],
  ],
  [
    "a subresource not covered by its resource",
    [{ ...READ, resources: ["pods"] }],
    [{ ...READ, verbs: ["get"], resources: ["pods/log"] }],
    ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
  ],
  [
    "paths below a wildcard",
    [{ nonResourceURLs: ["/a/*"], verbs: ["get"] }],
    [{ nonResourceURLs: ["/a/b", "/c"], verbs: ["get"] }],
    ['{NonResourceURLs:["/c"], Verbs:["get"]}'],
  ],
])("missing permissions: %s", (_, held, requested, missing) => {
  expect(findMissingPermissions(held, requested)).toEqual(missing);
});

const texts = fc.uniqueArray(fc.constantFrom("a", "b", "c/status", "*"), { minLength: 1, maxLength: 3 });
const rules = fc.array(
  fc.oneof(
    fc.record({ apiGroups: texts, resources: texts, verbs: texts }),
    fc.record({ apiGroups: texts, resources: texts, verbs: texts, resourceNames: texts }),
    fc.record({ nonResourceURLs: fc.uniqueArray(fc.constantFrom("/a", "/b/*")), verbs: texts }),
  ),
  { maxLength: 3 },
);

it("property: full access may grant anything, rules cover themselves, and more rules never cover less", () => {
  fc.assert(
    fc.property(rules, rules, (one, other) => {
      expect(findMissingPermissions(EVERYTHING, one)).toEqual([]);
      expect(findMissingPermissions(one, one)).toEqual([]);
      expect(findMissingPermissions([...one, ...other], one)).toEqual([]);
    }),
  );
});
