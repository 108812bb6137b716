import { expect, it } from "vitest";
import { nearestName } from "./nearest-name.ts";
import { documentForms, unknownFields } from "./unknown-fields.ts";

const forms = await documentForms();

it("unknown fields are told wherever they are, with the name that was meant", () => {
  const content = {
    name: "shop",
    clases: [],
    functions: [
      { key: "f", provision_config: { min_scal: 3 }, config: { ANY_NAME: "x" } },
      { key: "g", provision_config: null, zzzzzzzz: 1 },
    ],
  };
  expect(unknownFields("package", content, forms)).toMatchObject([
    { path: "$.clases", fix: "did you mean classes?" },
    { path: "$.functions[0].provision_config.min_scal", fix: "did you mean min_scale?" },
    { path: "$.functions[1].zzzzzzzz", fix: expect.stringContaining("known are key, ") as string },
  ]);
});

it("what the platform answers may be sent back", () => {
  const answered = { key: "a", class_key: "A", condition: "RUNNING", status: { selected_envs: [] }, created_at: "x" };
  expect(unknownFields("deployment", answered, forms)).toEqual([]);
  expect(unknownFields("deployment", { ...answered, env_templates: { edge: "dev" } }, forms)).toEqual([]);
});

it.each([
  ["clas_key", "class_key"],
  ["Classes", "classes"],
  ["xyz", undefined],
])("%s means %s", (name, meant) => {
  expect(nearestName(name, ["class_key", "classes", "key_specs"])).toBe(meant);
});
