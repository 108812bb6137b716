import type { DeploymentTemplateInput } from "@oaas/contracts/crd";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { chooseAndRender } from "../selection/choose-and-render.ts";
import { BUILTIN_TEMPLATES } from "../builtin/registry.ts";
import type { Rendered } from "../../rendering/model/rendered.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import type { Template } from "../template.ts";
import { userTemplate } from "../user-template/user-template.ts";
import { inputOf, templateSpecOf, type PartialInput } from "../../rendering/testing/inputs.ts";

/** Folder of the golden files. */
export const GOLDEN_FOLDER = path.join(import.meta.dirname, "../testdata");

/** All inputs, sorted. */
export const goldenInputs: readonly string[] = globSync("*.input.yaml", { cwd: GOLDEN_FOLDER }).sort();

interface GoldenInput extends PartialInput {
  readonly templates?: readonly { readonly name: string; readonly spec: DeploymentTemplateInput["spec"] }[];
}

/** Renders the class of a golden file, optionally in another namespace. */
export function renderGolden(
  file: string,
  namespace?: string,
): { readonly input: RenderInput; readonly rendered: Rendered } {
  const given = parse(readFileSync(path.join(GOLDEN_FOLDER, file), "utf8")) as GoldenInput;
  const input = inputOf(namespace === undefined ? given : { ...given, namespace });
  const own = (given.templates ?? []).map(({ name, spec }): Template => {
    const template = userTemplate(name, templateSpecOf(spec, name));
    if (!template.ok) throw new Error(JSON.stringify(template.error));
    return template.value;
  });
  const chosen = chooseAndRender(input, [...BUILTIN_TEMPLATES, ...own]);
  if (!chosen.ok) throw new Error(chosen.error.message);
  return { input, rendered: chosen.value.rendered };
}
