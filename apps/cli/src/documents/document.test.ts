import { describe, expect, it } from "vitest";
import { diffValues } from "./changes.ts";
import { parseDocuments } from "./document.ts";
import { sortByDependency } from "./read-documents.ts";

const TWO = `name: shop
version: 1.0.0
classes:
  - key: Order
    description: x
functions: []
---
# a deployment
key: shop-order
package_name: shop
class_key: Order
`;

describe("documentsIn", () => {
  it("detects the kind by the fields and skips empty documents", () => {
    const { documents, errors } = parseDocuments(`---\n${TWO}---\n`, "f.yaml");
    expect(errors).toEqual([]);
    expect(documents.map(({ kind, name }) => `${kind}/${name}`)).toEqual(["package/shop", "deployment/shop-order"]);
  });

  it.each([
    ["$", "f.yaml:1:1"],
    ["$.version", "f.yaml:2:10"],
    ["$.classes[0].key", "f.yaml:4:10"],
    ["$.classes[0].nope", "f.yaml:4:5"],
    ["$.classes[7]", "f.yaml:4:3"],
  ])("locates %s", (path, place) => {
    expect(parseDocuments(TWO, "f.yaml").documents[0]?.locationOf(path)).toBe(place);
  });

  it("counts lines from the beginning of the file", () => {
    expect(parseDocuments(TWO, "f.yaml").documents[1]?.locationOf("$.class_key")).toBe("f.yaml:11:12");
  });

  it.each([
    ["a list", "- a\n", /must be a map/],
    ["an unknown document", "kind: Pod\n", /neither a package nor a deployment/],
    ["a Kubernetes object", "apiVersion: v1\nkind: Pod\n", /Kubernetes object: apply it with kubectl apply/],
    ["a name that is not a string", "name: 5\nclasses: []\n", /neither/],
    ["invalid YAML", "a: [\n", /^f\.yaml:\d+:\d+: not valid YAML/],
    ["a duplicate key", "name: a\nname: b\nclasses: []\n", /"name" is repeated \(first at line 1, column 1\)/],
  ])("rejects %s", (_, text, words) => {
    const { documents, errors } = parseDocuments(`${text}---\n${TWO}`, "f.yaml");
    expect(errors.join("\n")).toMatch(words);
    expect(
      documents.map(({ name }) => name),
      "an invalid document does not hide the others",
    ).toContain("shop-order");
  });
});

it("orders packages before their dependents, also in a cycle", () => {
  const text = [
    "{key: d, class_key: C}",
    "{name: a, classes: [], dependencies: [b]}",
    "{name: b, classes: [], dependencies: [c]}",
    "{name: c, classes: [], dependencies: [a]}",
  ].join("\n---\n");
  expect(sortByDependency(parseDocuments(text, "f").documents).map(({ name }) => name)).toEqual(["c", "b", "a", "d"]);
});

it("reports changes down to the leaves and matches list items by key", () => {
  const before = { name: "a", list: [1, 2], functions: [{ key: "f", image: "1" }, { key: "g" }] };
  const after = { name: "a", list: [1, 3], functions: [{ key: "g" }, { key: "f", image: "2" }], more: true };
  expect(diffValues(before, after)).toEqual([
    { path: "$.list[1]", before: 2, after: 3 },
    { path: "$.functions.f.image", before: "1", after: "2" },
    { path: "$.more", after: true },
  ]);
  expect(diffValues(before, before)).toEqual([]);
});
