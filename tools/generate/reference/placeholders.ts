import { PATHS } from "../../../apps/class-runtime-manager/src/templates/user-template/scope.ts";
import type { Generator } from "../generator.ts";
import { sentence, table } from "./markdown.ts";

/** The reference page of what a template of one's own may look up. */
export const generator: Generator = {
  name: "placeholders",
  produce: async () => new Map([["docs/reference/placeholders.md", page()]]),
};

const SECTIONS = {
  class: "Of the class",
  function: "Of the function that is rendered",
  odgm: "Of its state store",
  environment: "Of its environment",
  cluster: "Of the cluster",
} as const;

function page(): string {
  const entries = Object.entries(PATHS);
  const nowhere = entries.filter(([path]) => !Object.hasOwn(SECTIONS, path.split(".")[0] ?? ""));
  if (nowhere.length > 0) throw new Error(`which section has ${nowhere.map(([path]) => path).join(", ")}?`);
  const sections = Object.entries(SECTIONS).map(([first, title]) => {
    const own = entries.filter(([path]) => path.startsWith(`${first}.`));
    const rows = own.map(([path, meaning]) => [`\`${path}\``, sentence(meaning)]);
    return `## ${title}\n\n${table(["Placeholder", "Meaning"], rows)}\n`;
  });
  return [INTRODUCTION, ...sections].join("\n");
}

const INTRODUCTION = `# Placeholders of templates

<!-- Generated from apps/class-runtime-manager/src/templates/user-template/scope.ts by \`npm run generate\`. Do not edit. -->

What a \`DeploymentTemplate\` may look up between \`{{\` and \`}}\` ([how](../guides/user-templates.md)). Where a path ends in \`*\`, any name that its owner gave stands there; one that is no plain word goes in brackets: \`class.labels["example.test/team"]\`.
`;
