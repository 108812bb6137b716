import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { BUILTIN_TEMPLATES } from "./builtin/registry.ts";
import { GOLDEN_FOLDER, goldenInputs, renderGolden } from "./testing/golden.ts";
import { podSpecOf, restrictedProblems } from "../rendering/testing/restricted.ts";

/*
 * Each testdata/<name>.input.yaml is a class and its cluster; <name>.golden.yaml is the rendered result. To update them
 * after an intended change: UPDATE_GOLDEN=1 vitest run --project unit apps/class-runtime-manager/src/templates/golden
 */
describe.each(goldenInputs)("%s", (file) => {
  test("renders its golden file", () => {
    const { children, ...about } = renderGolden(file).rendered;
    const documents = [about, ...children];
    const golden = path.join(GOLDEN_FOLDER, file.replace(".input.", ".golden."));
    if (process.env["UPDATE_GOLDEN"] === "1") {
      const options = { lineWidth: 0, aliasDuplicateObjects: false };
      writeFileSync(golden, documents.map((document) => stringify(document, options)).join("---\n"));
    }
    const expected = parseAllDocuments(readFileSync(golden, "utf8")).map((document) => document.toJS() as unknown);
    expect(documents).toEqual(expected);
    // The order of members matters too, to keep diffs readable.
    expect(JSON.stringify(documents)).toBe(JSON.stringify(expected));
  });

  test("owns, labels and places every child", () => {
    const { input, rendered } = renderGolden(file);
    for (const { metadata } of rendered.children) {
      expect(metadata.namespace).toBe(input.owner.namespace);
      expect(metadata.labels?.["oaas.io/owner"]).toBe(input.owner.name);
      expect(metadata.ownerReferences).toEqual([
        expect.objectContaining({ uid: input.owner.uid, kind: input.owner.kind, controller: true }),
      ]);
    }
  });

  test("meets the restricted pod security standard", () => {
    const pods = renderGolden(file)
      .rendered.children.map(podSpecOf)
      .filter((pod) => pod !== undefined);
    expect(pods.length).toBeGreaterThan(0);
    expect(pods.flatMap(restrictedProblems)).toEqual([]);
  });
});

test("has a golden file for each built-in template", () => {
  const templates = goldenInputs.map((file) => renderGolden(file).rendered.template);
  expect(templates).toEqual(expect.arrayContaining(BUILTIN_TEMPLATES.map(({ id }) => id)));
});

test("renders a class differently with each template", () => {
  const bodies = goldenInputs
    .filter((file) => file.startsWith("same-class-"))
    .map((file) => JSON.stringify(renderGolden(file).rendered.children));
  expect(bodies.length).toBe(BUILTIN_TEMPLATES.length);
  expect(new Set(bodies).size).toBe(bodies.length);
});

test("the checker of the restricted standard reports violations", () => {
  expect(
    restrictedProblems({ hostNetwork: true, containers: [{ name: "a", securityContext: { privileged: true } }] }),
  ).toEqual([
    "hostNetwork",
    "a is privileged",
    "a may escalate",
    "a keeps capabilities",
    "a may run as root",
    "a has no seccomp profile",
  ]);
});
