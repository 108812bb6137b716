import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  difference,
  differenceBelow,
  equalSets,
  createFieldSet,
  intersection,
  isEmptySet,
  NO_FIELDS,
  listPaths,
  formatPath,
  union,
  type FieldPath,
  type FieldSet,
} from "./field-set.ts";
import { decodeFields, encodeFields } from "./fields-v1.ts";
import { keyedElement, memberElement, valueElement } from "./path-element.ts";

const element = fc.oneof(
  fc.constantFrom("a", "b", "c.d/e", "", ".", "f:").map(memberElement),
  fc.constantFrom({ k: "x" }, { port: 80, protocol: "TCP" }, { k: true }).map(keyedElement),
  fc.constantFrom<string | number>("x", 'q"', 1, 1.5).map(valueElement),
  fc.constantFrom("i:0", "i:10", "i:2"),
);
const sets = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 }).map(createFieldSet);
const sorted = (texts: Iterable<string>): readonly string[] => [...texts].sort((a, b) => (a < b ? -1 : 1));
const texts = (set: FieldSet): readonly string[] => sorted([...listPaths(set)].map((path) => JSON.stringify(path)));

test.each<{ path: FieldPath; text: string }>([
  { path: [memberElement("spec"), memberElement("a")], text: ".spec.a" },
  { path: [memberElement("l"), keyedElement({ protocol: "TCP", port: 80 })], text: '.l[port=80,protocol="TCP"]' },
  { path: [memberElement("s"), valueElement("x")], text: '.s[="x"]' },
  { path: [memberElement("l"), "i:3"], text: ".l[3]" },
])("encodes fields as $text", ({ path, text }) => {
  expect(formatPath(path)).toBe(text);
});

test("sorts members by name and before their children", () => {
  const set = decodeFields({ "f:b": {}, "f:a": { "f:z": {} }, "f:c": { ".": {}, "f:y": {} } });
  expect([...listPaths(set)].map(formatPath)).toEqual([".b", ".c", ".a.z", ".c.y"]);
});

test("sorts items by key size, numbers before strings", () => {
  const keys = [
    { port: 443 },
    { port: 80 },
    { port: "x" },
    { port: 80, protocol: "UDP" },
    { port: 80, protocol: "TCP" },
  ];
  const set = createFieldSet([...keys.map((key) => [keyedElement(key)]), ["i:10"], ["i:2"], [valueElement("z")]]);
  expect([...listPaths(set)].map(formatPath)).toEqual([
    "[port=80]",
    '[port=80,protocol="TCP"]',
    '[port=80,protocol="UDP"]',
    "[port=443]",
    '[port="x"]',
    '[="z"]',
    "[2]",
    "[10]",
  ]);
});

describe("fieldsV1", () => {
  test("decoding reverses encoding", () => {
    fc.assert(
      fc.property(sets, (set) => {
        expect(texts(decodeFields(encodeFields(set)))).toEqual(texts(set));
      }),
    );
  });

  test.each([
    { fields: { "f:a": { ".": {}, "f:b": {} } }, paths: [".a", ".a.b"], case: "the dot is the field itself" },
    { fields: { "f:a": { "f:b": {} } }, paths: [".a.b"], case: "without the dot only the children" },
    { fields: { 'k:{"b":1,"a":2}': {} }, paths: ["[a=2,b=1]"], case: "keys in any order" },
    { fields: { "q:a": {}, "k:[": {}, "i:x": {} }, paths: [], case: "unknown steps are dropped" },
  ])("$case", ({ fields, paths }) => {
    expect([...listPaths(decodeFields(fields))].map(formatPath)).toEqual(paths);
  });
});

describe("obeys set laws", () => {
  test("of paths", () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const [inA, inB] = [new Set(texts(a)), new Set(texts(b))];
        expect(texts(union(a, b))).toEqual(sorted(new Set([...inA, ...inB])));
        expect(texts(intersection(a, b))).toEqual(sorted([...inA].filter((path) => inB.has(path))));
        expect(texts(difference(a, b))).toEqual(sorted([...inA].filter((path) => !inB.has(path))));
        expect(equalSets(a, b)).toBe(inA.size === inB.size && [...inA].every((path) => inB.has(path)));
        expect(isEmptySet(difference(a, a))).toBe(true);
      }),
    );
  });

  test("removes all children in a difference with the whole field", () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const removed = [...listPaths(b)].map((path) => JSON.stringify(path).slice(0, -1));
        const kept = texts(a).filter(
          (path) => !removed.some((head) => path === `${head}]` || path.startsWith(`${head},`)),
        );
        expect(texts(differenceBelow(a, b))).toEqual(kept);
      }),
    );
  });

  test("ignores the empty path", () => {
    expect(createFieldSet([[]])).toEqual(NO_FIELDS);
  });
});
