import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import { rightsNotHeld } from "./escalation.ts";

const READ = { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] };
const EVERYTHING = [
  { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
  { nonResourceURLs: ["*"], verbs: ["*"] },
];

it.each<[string, JsonObject[], JsonObject[], string[]]>([
  ["what one has", [READ], [READ], []],
  ["less than one has", [{ ...READ, verbs: ["*"] }], [READ], []],
  [
    "one of two verbs",
    [{ ...READ, verbs: ["get"] }],
    [READ],
    ['{APIGroups:[""], Resources:["configmaps"], Verbs:["list"]}'],
  ],
  [
    "verbs together, resources apart",
    [],
    [{ ...READ, resources: ["a", "b"] }],
    [
      '{APIGroups:[""], Resources:["a"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["b"], Verbs:["get" "list"]}',
    ],
  ],
  [
    "any name for one name",
    [{ ...READ, resourceNames: ["a"] }],
    [{ ...READ, verbs: ["get"] }],
    ['{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}'],
  ],
  ["one name for any name", [READ], [{ ...READ, resourceNames: ["a"] }], []],
  [
    "another name",
    [{ ...READ, resourceNames: ["a"] }],
    [{ ...READ, verbs: ["get"], resourceNames: ["b"] }],
    ['{APIGroups:[""], Resources:["configmaps"], ResourceNames:["b"], Verbs:["get"]}'],
  ],
  [
    "a subresource for that of all",
    [{ ...READ, resources: ["*/status"] }],
    [{ ...READ, resources: ["pods/status"] }],
    [],
  ],
  [
    "a subresource for its resource",
    [{ ...READ, resources: ["pods"] }],
    [{ ...READ, verbs: ["get"], resources: ["pods/log"] }],
    ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
  ],
  [
    "paths below a star",
    [{ nonResourceURLs: ["/a/*"], verbs: ["get"] }],
    [{ nonResourceURLs: ["/a/b", "/c"], verbs: ["get"] }],
    ['{NonResourceURLs:["/c"], Verbs:["get"]}'],
  ],
])("rights not held: %s", (_, held, wanted, missing) => {
  expect(rightsNotHeld(held, wanted)).toEqual(missing);
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

it("whoever has all may give all, and each what they have; more rights never hide less", () => {
  fc.assert(
    fc.property(rules, rules, (one, other) => {
      expect(rightsNotHeld(EVERYTHING, one)).toEqual([]);
      expect(rightsNotHeld(one, one)).toEqual([]);
      expect(rightsNotHeld([...one, ...other], one)).toEqual([]);
    }),
  );
});
