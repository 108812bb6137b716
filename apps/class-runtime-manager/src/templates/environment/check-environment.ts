import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { ADDONS } from "../addons.ts";
import { findTemplate } from "../selection/select.ts";
import type { Template } from "../template.ts";

/** Checks the template, the addons and the default flag of an environment. Paths start at its spec. */
export function checkEnvironment(
  name: string,
  spec: EnvironmentConfigSpec,
  { templates, defaultName }: { readonly templates: readonly Template[]; readonly defaultName: string | undefined },
): readonly Violation[] {
  const { default_template: template, default_addons: addons = [] } = spec;
  const known = ADDONS.map(({ id }) => id);
  return [
    ...(template === undefined || findTemplate(template, templates) !== undefined
      ? []
      : [
          {
            path: pathOf(ROOT_PATH, "default_template"),
            message: `unknown template "${template}"`,
            fix: `use one of ${templates.map(({ id }) => id).join(", ")}, or create it`,
          },
        ]),
    ...addons.flatMap((addon, index) =>
      known.includes(addon.toLowerCase())
        ? []
        : [
            {
              path: pathOf(ROOT_PATH, "default_addons", index),
              message: `unknown addon "${addon}"`,
              fix: `use one of ${known.join(", ")}`,
            },
          ],
    ),
    ...(spec.default && defaultName !== undefined && defaultName !== name
      ? [
          {
            path: pathOf(ROOT_PATH, "default"),
            message: `"${defaultName}" is already the default environment of this namespace`,
            fix: "set default: true in only one of them",
          },
        ]
      : []),
  ];
}
