import { expect, it } from "vitest";
import { nearestName } from "./nearest-name.ts";
import { loadDocumentSchemas, unknownFields } from "./unknown-fields.ts";

const schemas = await loadDocumentSchemas();

it("reports unknown fields at every depth and suggests the nearest name", () => {
  const content = {
    name: "shop",
    clases: [],
    functions: [
      { key: "f", provision_config: { min_scal: 3 }, config: { ANY_NAME: "x" } },
      { key: "g", provision_config: null, zzzzzzzz: 1 },
    ],
  };
  expect(unknownFields("package", content, schemas)).toMatchObject([
    { path: "$.clases", fix: "did you mean classes?" },
    { path: "$.functions[0].provision_config.min_scal", fix: "did you mean min_scale?" },
    { path: "$.functions[1].zzzzzzzz", fix: expect.stringContaining("use one of key, ") as string },
  ]);
});

it("accepts the fields of a response", () => {
  const answered = { key: "a", class_key: "A", condition: "RUNNING", status: { selected_envs: [] }, created_at: "x" };
  expect(unknownFields("deployment", answered, schemas)).toEqual([]);
  expect(unknownFields("deployment", { ...answered, env_templates: { edge: "dev" } }, schemas)).toEqual([]);
});

it.each([
  ["clas_key", "class_key"],
  ["Classes", "classes"],
  ["xyz", undefined],
])("the nearest name of %s is %s", (name, nearest) => {
  expect(nearestName(name, ["class_key", "classes", "key_specs"])).toBe(nearest);
});
