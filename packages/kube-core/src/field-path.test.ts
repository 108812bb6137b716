import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldPathToJsonPath } from "./field-path.ts";

test.each([
  {
    field: "spec.template.spec.containers[0].image",
    path: "$.spec.template.spec.containers[0].image",
    why: "fields and indexes",
  },
  {
    field: "metadata.annotations[example.com/a.b]",
    path: "$.metadata.annotations['example.com/a.b']",
    why: "a key of a map",
  },
  { field: "data[it's]", path: "$.data['it\\'s']", why: "a quote in a key" },
  { field: "metadata.name", path: "$.metadata.name", why: "two fields" },
  { field: "", path: "$", why: "the object itself" },
  { field: "<nil>", path: "$", why: "a path the server did not have" },
  { field: "spec[3]", path: "$.spec[3]", why: "an index at the end" },
  { field: ".spec.replicas", path: "$.spec.replicas", why: "apply begins with a dot" },
  {
    field: '.spec.containers[name="web"].image',
    path: '$.spec.containers[?@.name=="web"].image',
    why: "an item by its key",
  },
  {
    field: '.spec.ports[port=80,protocol="TCP"].name',
    path: '$.spec.ports[?@.port==80&&@.protocol=="TCP"].name',
    why: "an item by two keys",
  },
  {
    field: '.metadata.finalizers[="example.com/a"]',
    path: '$.metadata.finalizers[?@=="example.com/a"]',
    why: "a member of a set",
  },
  { field: '.spec.x[name="a]b\\"c"].y', path: '$.spec.x[?@.name=="a]b\\"c"].y', why: "brackets and quotes in a key" },
  { field: '.spec.x[k8s-app="a"]', path: "$.spec.x[?@['k8s-app']==\"a\"]", why: "a key that is no identifier" },
  {
    field: ".metadata.labels.example.com/app",
    path: "$.metadata.labels['example.com/app']",
    why: "a label's dots are its own",
  },
  { field: ".spec.selector.matchLabels.app", path: "$.spec.selector.matchLabels.app", why: "a simple label" },
  {
    field: ".spec.resources.limits.example.com/gpu",
    path: "$.spec.resources.limits['example.com/gpu']",
    why: "so are a resource's",
  },
  { field: ".data.tls.crt", path: "$.data['tls.crt']", why: "and those of a key of data" },
  { field: ".spec.data.tls.crt", path: "$.spec.data.tls.crt", why: "elsewhere data is a field like any other" },
  { field: "metadata.labels.app.x", path: "$.metadata.labels.app.x", why: "validation writes keys in brackets" },
  { field: "spec..x", path: "$['spec..x']", why: "unreadable: kept whole" },
  { field: "spec[0", path: "$['spec[0']", why: "unclosed: kept whole" },
  { field: "[a=b]", path: "$['[a=b]']", why: "begins with a bracket: kept whole" },
])("$field ($why)", ({ field, path }) => {
  expect(fieldPathToJsonPath(field)).toBe(path);
});

test("any text becomes a path from the root", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[.[\]"=,a0\\]*$/)), (field) => {
      expect(fieldPathToJsonPath(field)).toMatch(/^\$/);
    }),
  );
});

test("paths of fields and indexes keep every step", () => {
  const step = fc.oneof(fc.stringMatching(/^[a-z][a-zA-Z0-9]*$/), fc.nat(99));
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]+$/), fc.array(step), (first, steps) => {
      const field = first + steps.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
      expect(fieldPathToJsonPath(field)).toBe(`$.${field}`);
    }),
  );
});
