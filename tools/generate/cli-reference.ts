import { helpOfAll } from "../../apps/cli/src/app.ts";
import type { Generator } from "./generator.ts";

/** The reference page of the command line, from the very help it prints. */
export const generator: Generator = {
  name: "cli-reference",
  produce: async () => new Map([["docs/reference/cli.md", cliReference()]]),
};

function cliReference(): string {
  const sections = helpOfAll()
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([route, text]) => `## ${route}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`);
  return [INTRODUCTION, ...sections].join("\n");
}

const INTRODUCTION = `# The command line

<!-- Generated from apps/cli/src/app.ts by \`npm run generate\`. Do not edit. -->

\`npx oaas\` in this repository, or the single file \`dist/cli.mjs\` that \`npm run bundle\` makes.

**Which platform.** \`--context\`, then \`OAAS_PM_URL\` (with \`OAAS_TOKEN\`), then \`OAAS_CONTEXT\`, then the current context of
\`~/.oaas/config.yaml\` (\`OAAS_CONFIG\` names another file; its fields are those of the earlier command line). Without any of them the
local stack at http://127.0.0.1:8080.

**Output.** Results go to standard output, everything else to standard error. Colours and live progress only on a terminal;
\`NO_COLOR\` turns colours off.

| Exit code | Meaning |
|---|---|
| 0 | done |
| 1 | refused or failed; for \`diff\`: there are differences; for \`cluster health\` and \`doctor\`: something is not well |
| 2 | the command line, a file or a context is wrong; nothing was sent |
| 3 | not found |
| 4 | not logged in, or not allowed |
| 5 | a conflict: somebody else was faster, or it is there already |
| 6 | the package manager or a cluster did not answer, or not in time |
| 130 | interrupted |

**Words of the earlier command line.**

| There | Here |
|---|---|
| \`package apply FILE\` (\`pkg\`, \`p\`; \`a\`, \`create\`, \`c\`) | the same; it updates what exists, so \`-O\` is not needed. Deployments have files of their own, so there is no \`-d\`; the name is in the file, so there is no \`-p\` |
| \`package delete FILE\` (\`d\`, \`rm\`, \`r\`) | \`delete -f FILE\`, or \`package delete NAME\`; \`--cascade\` in place of \`-d\` |
| \`deploy apply FILE\`, \`deploy list [NAME]\`, \`deploy delete NAME\` (\`dep\`, \`de\`) | the same, also as \`deployment\` |
| \`class list [F]\` (\`cls\`), \`function list [F]\` (\`fn\`, \`f\`) | the same; classes are deleted with their package |
| \`class-runtimes list [ID]\` (\`cr\`, \`runtimes\`, \`rts\`) | the same, also as \`runtime\` |
| \`environments list\` (\`envs\`, \`env\`, \`clu\`, \`cl\`) | the same, also as \`cluster\` |
| \`context set\`, \`get\`, \`select\` (\`ctx\`) | \`login\`, \`context list\` (\`get\`), \`context select\` |
| \`object\`, \`invoke\`, \`result\`, \`liveliness\`, \`capabilities\` | not here: they speak to the data plane |
| \`topology\` | the same word; from the control plane |
`;
