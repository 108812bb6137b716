import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldPathToJsonPath } from "./field-path.ts";

test.each([
  {
    field: "spec.template.spec.containers[0].image",
    path: "$.spec.template.spec.containers[0].image",
    case: "fields and indexes",
  },
  {
    field: "metadata.annotations[example.com/a.b]",
    path: "$.metadata.annotations['example.com/a.b']",
    case: "map key",
  },
  { field: "data[it's]", path: "$.data['it\\'s']", case: "quote in a key" },
  { field: "metadata.name", path: "$.metadata.name", case: "two fields" },
  { field: "", path: "$", case: "root object" },
  { field: "<nil>", path: "$", case: "path missing in the cause" },
  { field: "spec[3]", path: "$.spec[3]", case: "index at the end" },
  { field: ".spec.replicas", path: "$.spec.replicas", case: "apply paths start with a dot" },
  {
    field: '.spec.containers[name="web"].image',
    path: '$.spec.containers[?@.name=="web"].image',
    case: "list item by key",
  },
  {
    field: '.spec.ports[port=80,protocol="TCP"].name',
    path: '$.spec.ports[?@.port==80&&@.protocol=="TCP"].name',
    case: "list item by two keys",
  },
  {
    field: '.metadata.finalizers[="example.com/a"]',
    path: '$.metadata.finalizers[?@=="example.com/a"]',
    case: "set member",
  },
  { field: '.spec.x[name="a]b\\"c"].y', path: '$.spec.x[?@.name=="a]b\\"c"].y', case: "brackets and quotes in a key" },
  { field: '.spec.x[k8s-app="a"]', path: "$.spec.x[?@['k8s-app']==\"a\"]", case: "key that is not an identifier" },
  {
    field: ".metadata.labels.example.com/app",
    path: "$.metadata.labels['example.com/app']",
    case: "dots in a label key",
  },
  { field: ".spec.selector.matchLabels.app", path: "$.spec.selector.matchLabels.app", case: "simple label key" },
  {
    field: ".spec.resources.limits.example.com/gpu",
    path: "$.spec.resources.limits['example.com/gpu']",
    case: "dots in a resource name",
  },
  { field: ".data.tls.crt", path: "$.data['tls.crt']", case: "dots in a data key" },
  { field: ".spec.data.tls.crt", path: "$.spec.data.tls.crt", case: "data below another field is a normal field" },
  { field: "metadata.labels.app.x", path: "$.metadata.labels.app.x", case: "validation writes keys in brackets" },
  { field: "spec..x", path: "$['spec..x']", case: "unparsable: kept whole" },
  { field: "spec[0", path: "$['spec[0']", case: "unclosed bracket: kept whole" },
  { field: "[a=b]", path: "$['[a=b]']", case: "leading bracket: kept whole" },
])("$field ($case)", ({ field, path }) => {
  expect(fieldPathToJsonPath(field)).toBe(path);
});

test("converts any text to a path that starts at the root", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[.[\]"=,a0\\]*$/)), (field) => {
      expect(fieldPathToJsonPath(field)).toMatch(/^\$/);
    }),
  );
});

test("keeps every step of paths of fields and indexes", () => {
  const step = fc.oneof(fc.stringMatching(/^[a-z][a-zA-Z0-9]*$/), fc.nat(99));
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]+$/), fc.array(step), (first, steps) => {
      const field = first + steps.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
      expect(fieldPathToJsonPath(field)).toBe(`$.${field}`);
    }),
  );
});
