import { allHelpTexts } from "../../../apps/cli/src/app.ts";
import { KINDS } from "../../../apps/cli/src/command/kinds.ts";
import type { Generator } from "../generator.ts";

/** The reference page of the command line, from its help texts. */
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

/** The kinds with their short names. */
function kindTable(): string {
  const rows = KINDS.map(
    ({ plural, shortNames }) => `| \`${plural}\` | ${shortNames.map((name) => `\`${name}\``).join(", ")} |`,
  );
  return ["| Kind | Short names |", "|---|---|", ...rows].join("\n");
}

const INTRODUCTION = `# The command line

<!-- Generated from apps/cli/src/app.ts by \`npm run generate\`. Do not edit. -->

\`npx oaas\` in this repository, or the single file \`dist/cli.mjs\` built by \`npm run bundle\`.

**Context.** In order of precedence: \`--context\`, \`OAAS_PM_URL\` (with \`OAAS_TOKEN\`), \`OAAS_CONTEXT\`, the current context of
\`~/.oaas/config.yaml\` (\`OAAS_CONFIG\` sets another file; the format is that of the earlier command line), and the local
stack at http://127.0.0.1:8080.

Global flags (\`--context\`, \`-o\`) may also precede the command; \`oaas help COMMAND\` equals \`oaas COMMAND --help\`.

**Output.** Results go to standard output, everything else to standard error. Colours and live progress are used only on a
terminal; \`NO_COLOR\` disables colours.

**Kinds.** \`get\`, \`describe\`, \`delete\`, \`rollout\`, \`top\`, \`explain\` and \`logs\` name objects as kubectl does: \`KIND NAME\`,
\`KIND/NAME\`, several of them, or a kind for all of its objects. Equivalents of kubectl's commands:
[coming from kubectl](../guides/coming-from-kubectl.md).

${kindTable()}

\`-o json\`, \`yaml\` and \`jsonpath\` of \`get\` return the object itself for one name, and \`{"kind": "List", "items": […]}\`
otherwise; \`package list\` and the other \`list\` commands return an array. \`--sort-by\`, \`--field-selector\` and
\`custom-columns\` take paths such as \`.created_at\`; a field selector ignores case. \`--selector\` works on the labels of
clusters and on the tags of packages, which are labels without a value; nothing else has labels. The package manager has no
namespaces: \`--all-namespaces\` and \`--namespace\` apply to class runtimes, which are in a namespace of their cluster, and
have no effect on other kinds.

**Explain.** \`oaas explain KIND\` and \`oaas explain KIND.field\` describe the schema, also with plurals and short names.
\`oaas explain NAME\` explains the deployment NAME. If a deployment is called like a kind, use
\`oaas explain deployment/NAME\`, which always means the deployment.

**Completion.** \`oaas completion bash|zsh|fish\` prints a script that completes commands, flags, their values, kinds, and the
names of existing objects. Names are read from the package manager of the context; nothing is proposed when it does not
respond within 1.5 seconds.

**New documents.** \`oaas init [FOLDER]\` writes \`package.yaml\` and \`deployment.yaml\` with comments. On a terminal it asks for
what the flags do not say and repeats a question until the answer is valid; \`--yes\` takes the defaults. It writes both
files or none, and replaces existing files only with \`--force\`.

**Several documents.** Files, folders and standard input are read and validated before the first document is sent. Errors are
reported with file, line, column, field and the closest known name, and nothing is applied; with \`--keep-going\` the valid
documents are. The package manager also validates several documents together (references, dependencies, plans) before the
first one is written.

**Dry run.** \`apply --dry-run\`, \`diff -f\` and \`package validate -f\` show what applying would change: packages with
\`dry_run\`, which runs all checks of the write and writes nothing, deployments with a plan. They exit with 2 when a document
would be rejected. \`package validate --offline\` checks against the API contract only.

**Tokens** are stored in the configuration file with mode 600; every command warns when others can read it. Errors
distinguish a missing, an expired (with the time) and a rejected token.

**Logs.** \`oaas logs\` shows the output of functions ([guide](../guides/invoke-a-function.md)). With \`--history\` it shows
the history of a class: requests and their outcome, the readiness of each function, and for unhealthy parts the workloads,
pods and cluster events; \`--follow\` continues with events.

| Exit code | Meaning |
|---|---|
| 0 | done |
| 1 | rejected or failed; see the table of commands below |
| 2 | invalid command line, file or context; nothing was changed |
| 3 | not found; \`get\`, \`describe\` and \`delete\` exit with 1 |
| 4 | not authenticated, or not authorized |
| 5 | conflict: changed concurrently, or already exists |
| 6 | the package manager or a cluster did not respond in time |
| 130 | interrupted |

Commands that judge a state exit with 0 when it is good, and with 1 otherwise ([the words](health.md)):

| Command | Exits with 1 when |
|---|---|
| \`status\` | a component is starting or failed, or a deployment is Degraded, Down or Unknown; Pending and Deploying are normal |
| \`cluster health\` | a cluster is not Healthy |
| \`doctor\` | a check failed |
| \`apply --wait\`, \`wait\` | the operation failed; 6 when the condition is not reached in time |
| \`deployment watch --until-settled\` | the operation failed, or the deployment is Degraded or Down |
| \`get\`, \`describe\`, \`delete\` | an object does not exist, as for kubectl |
| \`diff\` | there are differences |
| \`deployment status\`, lists | never: they show the state and exit with 0 |

**Compatibility with the earlier command line.**

| Earlier | Now |
|---|---|
| \`package apply FILE\` (\`pkg\`, \`p\`; \`a\`, \`create\`, \`c\`) with \`-d\`, \`-p\`, \`-O\` | same; existing packages are always updated, so \`-O\` is a no-op |
| \`package delete FILE\` (\`d\`, \`rm\`, \`r\`) | same, also with a name instead of \`-p\`; \`-d\` is \`--cascade\`: all deployments of the package; asks for confirmation, \`--yes\` skips it |
| \`deploy apply FILE\`, \`deploy list [NAME]\`, \`deploy delete NAME\` (\`dep\`, \`de\`) with \`-p\`, \`--overwrite\` | same, also as \`deployment\`; delete asks for confirmation |
| \`class list [F]\` (\`cls\`, \`c\`), \`function list [F]\` (\`fn\`, \`f\`) | same |
| \`class delete NAME\` | not supported (nor by the earlier package manager): delete the package instead |
| \`class-runtimes list [ID]\` (\`cr\`, \`runtimes\`, \`rts\`) | same, also as \`runtime\` |
| \`environments list\` (\`envs\`, \`env\`, \`clu\`, \`cl\`) | same, also as \`cluster\` |
| \`context set [NAME] --pm URL\`, \`get\`, \`select\` (\`ctx\`) | same; \`login\` also stores a token. The data plane flags \`--gateway\`, \`--cls\`, \`--zenoh-peer\`, \`--use-grpc\` are not supported; a file that contains them is accepted |
| \`object\`, \`invoke\`, \`result\`, \`liveliness\`, \`capabilities\` | not supported: they belong to the data plane |
| \`topology\` | same, from the control plane |
| output is always JSON, exit code 1 for every error | \`-o json\`; exit codes as above |
`;
