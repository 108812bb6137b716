import { PATHS } from "../../../apps/class-runtime-manager/src/templates/user-template/scope.ts";
import type { Generator } from "../generator.ts";
import { sentence, table } from "./markdown.ts";

/** The reference page of the placeholders of user templates. */
export const generator: Generator = {
  name: "placeholders",
  produce: async () => new Map([["docs/reference/placeholders.md", page()]]),
};

const SECTIONS = {
  class: "Class",
  function: "Function",
  odgm: "State store",
  environment: "Environment",
  cluster: "Cluster",
} as const;

function page(): string {
  const entries = Object.entries(PATHS);
  const nowhere = entries.filter(([path]) => !Object.hasOwn(SECTIONS, path.split(".")[0] ?? ""));
  if (nowhere.length > 0)
    throw new Error(`no section for placeholders ${nowhere.map(([path]) => path).join(", ")}; add it to SECTIONS`);
  const sections = Object.entries(SECTIONS).map(([first, title]) => {
    const own = entries.filter(([path]) => path.startsWith(`${first}.`));
    const rows = own.map(([path, meaning]) => [`\`${path}\``, sentence(meaning)]);
    return `## ${title}\n\n${table(["Placeholder", "Meaning"], rows)}\n`;
  });
  return [INTRODUCTION, ...sections].join("\n");
}

const INTRODUCTION = `# Placeholders of templates

<!-- Generated from apps/class-runtime-manager/src/templates/user-template/scope.ts by \`npm run generate\`. Do not edit. -->

The values that a \`DeploymentTemplate\` can reference between \`{{\` and \`}}\` ([guide](../guides/user-templates.md)). In a
path, \`*\` stands for a user-defined name; a name that is not an identifier is written in brackets:
\`class.labels["example.test/team"]\`.
`;
