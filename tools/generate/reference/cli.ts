import { allHelpTexts } from "../../../apps/cli/src/app.ts";
import type { Generator } from "../generator.ts";

/** The reference page of the command line, from the very help it prints. */
export const generator: Generator = {
  name: "cli-reference",
  produce: async () => new Map([["docs/reference/cli.md", cliReference()]]),
};

function cliReference(): string {
  const sections = allHelpTexts()
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

Flags that all commands have (\`--context\`, \`-o\`) may also stand before the command; \`oaas help COMMAND\` is \`oaas COMMAND --help\`.

**Output.** Results go to standard output, everything else to standard error. Colours and live progress only on a terminal;
\`NO_COLOR\` turns colours off.

**Several documents.** Files, folders and standard input are read and checked before the first document is sent. One that is bad is told
with file, line and column, the field and the nearest known name, and nothing is applied; with \`--keep-going\` the others are. Several documents
are also checked by the package manager as if they were applied (names that lead nowhere, dependencies, plans) before the first is written.

**Before the change.** \`apply --dry-run\`, \`diff -f\` and \`package validate -f\` ask the package manager what applying would do: packages with \`dry_run\`, which
checks what the write checks and writes nothing, deployments with a plan. A document that would be refused ends them with 2. \`package validate --offline\`
checks against the contract alone.

**Tokens** are kept in that file, which only its owner may read (mode 600); when others may, every command warns. A token that is not
accepted is told apart: none, expired (and since when), refused.

**Logs.** \`oaas logs\` tells what happened to a class as the package manager knows it: what was asked and what came of it, when each
function became ready, and below what is not well the workloads, pods and cluster events that say why; \`--follow\` goes on with events.
What programs write to their own output stays in the clusters, because the contract between the managers does not carry it: read it
with \`kubectl logs -l oaas.io/owner=UNIT\` (the unit is in \`oaas deployment status\`).

| Exit code | Meaning |
|---|---|
| 0 | done |
| 1 | refused or failed; for \`diff\`: there are differences; for \`cluster health\` and \`doctor\`: something is not well |
| 2 | the command line, a file or a context is wrong; nothing was changed |
| 3 | not found |
| 4 | not logged in, or not allowed |
| 5 | a conflict: somebody else was faster, or it is there already |
| 6 | the package manager or a cluster did not answer, or not in time |
| 130 | interrupted |

**Words of the earlier command line.**

| There | Here |
|---|---|
| \`package apply FILE\` (\`pkg\`, \`p\`; \`a\`, \`create\`, \`c\`) with \`-d\`, \`-p\`, \`-O\` | the same; what exists is always updated, so \`-O\` changes nothing |
| \`package delete FILE\` (\`d\`, \`rm\`, \`r\`) | the same, also with a name, so that \`-p\` is not needed; \`-d\` is \`--cascade\`: all deployments of the package; asks first, \`--yes\` for scripts |
| \`deploy apply FILE\`, \`deploy list [NAME]\`, \`deploy delete NAME\` (\`dep\`, \`de\`) with \`-p\`, \`--overwrite\` | the same, also as \`deployment\`; delete asks first |
| \`class list [F]\` (\`cls\`, \`c\`), \`function list [F]\` (\`fn\`, \`f\`) | the same |
| \`class delete NAME\` | not here (the earlier package manager had no such route either): a class goes with its package |
| \`class-runtimes list [ID]\` (\`cr\`, \`runtimes\`, \`rts\`) | the same, also as \`runtime\` |
| \`environments list\` (\`envs\`, \`env\`, \`clu\`, \`cl\`) | the same, also as \`cluster\` |
| \`context set [NAME] --pm URL\`, \`get\`, \`select\` (\`ctx\`) | the same; \`login\` also keeps a token. \`--gateway\`, \`--cls\`, \`--zenoh-peer\`, \`--use-grpc\` are of the data plane and not here; a file that has them is read |
| \`object\`, \`invoke\`, \`result\`, \`liveliness\`, \`capabilities\` | not here: they speak to the data plane |
| \`topology\` | the same word; from the control plane |
| output is always JSON, exit code 1 for every error | \`-o json\`; exit codes as above |
`;
