// The page that `oaas --help` prints. Plain JavaScript without imports, so any Node version prints it before loading
// anything else. app.test.ts compares it with the registered commands.

const VERSION = "0.1.0";

/** @type {readonly (readonly [string, readonly (readonly [string, string])[]])[]} */
const GROUPS = [
  [
    "BASIC COMMANDS",
    [
      ["get", "Show objects: all of a kind, or those with the given names"],
      ["describe", "Show objects with what belongs to them"],
      ["apply", "Create or update packages and deployments from files; validates all files first"],
      ["diff", "Show the changes that apply would make"],
      ["delete", "Delete objects by name, or those listed in files"],
      ["rollout", "Follow, list and undo roll-outs of deployments and packages"],
      ["init", "Write a commented package and deployment"],
      ["validate", "Validate files against the schema, and with a dry run on the package manager"],
      ["plan", "Show which clusters a deployment would use and why, also for what-if assumptions"],
      ["wait", "Wait until a deployment reaches a condition"],
      ["explain", "Explain why a deployment is not ready, or describe a field of a file"],
      ["logs", "Show the output of functions from all their pods and clusters"],
      ["invoke", "Send one request to a function, to try it out"],
      ["exec", "Refused by design; names the alternatives"],
      ["top", "Show load, requirements and recommendations of each function, the busiest first"],
      ["events", "Stream events of packages, deployments and clusters"],
      ["audit", "Read and verify the audit trail: attempted changes and their outcome"],
      ["nfr", "Explain, check, prove and replay decisions on non-functional requirements"],
      ["topology", "Show packages, classes and clusters as a tree"],
    ],
  ],
  [
    "RESOURCES",
    [
      ["package", "Manage packages: versioned sets of classes and functions"],
      ["deployment", "Manage deployments: classes that run in clusters (alias: deploy)"],
      ["class", "List the classes of all packages"],
      ["function", "List the functions of all packages"],
      ["runtime", "List class runtimes: the classes deployed in each cluster"],
      ["object", "Look at the objects of a deployment, and change single ones"],
      ["state", "Copy the objects of a deployment: to move, reshard, back up and restore them"],
      ["cluster", "Manage the clusters that classes are deployed to"],
    ],
  ],
  [
    "LOCAL STACK",
    [
      ["up", "Start the local stack: package manager, clusters, examples"],
      ["down", "Stop the local stack and keep its data"],
      ["reset", "Stop the local stack and delete its data"],
      ["status", "Show the components and deployments of the local stack"],
      ["lab", "Run fault injection scenarios against the local stack"],
    ],
  ],
  [
    "CONFIGURATION",
    [
      ["login", "Save the address and token of a package manager and select it"],
      ["context", "Manage contexts: saved package manager addresses and tokens"],
      ["doctor", "Check the configuration and the connection to the package manager and its clusters"],
      ["completion", "Print a shell completion script"],
    ],
  ],
];

const EXAMPLES = [
  ["oaas apply -f shop.yaml --wait", "apply and follow the rollout"],
  ["oaas explain shop-order", "find out why it is not ready"],
];

/** @param {readonly (readonly string[])[]} rows */
function columns(rows) {
  const width = Math.max(...rows.map(([first = ""]) => first.length)) + 2;
  return rows.map(([first = "", second = ""]) => `  ${first.padEnd(width)}${second}\n`).join("");
}

function rootHelp() {
  const groups = GROUPS.map(([title, commands]) => `\n${title}\n${columns(commands)}`);
  return `oaas ${VERSION}: deploy classes to Kubernetes clusters

USAGE
  oaas <command> [flags]     oaas <command> --help shows flags and examples
${groups.join("")}
EXAMPLES
${columns(EXAMPLES)}
GLOBAL FLAGS
${columns([
  ["--context", "context to use; see oaas context list"],
  ["-o, --output", "table, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=HEADER:PATH,…"],
  ["-h, --help", "show help for a command"],
  ["-v, --version", "print the version"],
])}`;
}

/**
 * Whether the arguments ask for this page and nothing else.
 * @param {readonly string[]} argv
 */
function isRootHelpRequest(argv) {
  return argv.length === 0 || (argv.length === 1 && ["--help", "-h", "help"].includes(argv[0] ?? ""));
}

module.exports = { VERSION, GROUPS, rootHelp, isRootHelpRequest };
