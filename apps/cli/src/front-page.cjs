// What `oaas --help` shows. Plain JavaScript without imports, so that any Node prints it before anything else is loaded;
// app.test.ts holds it to the commands there are.

/** Of the command line. */
const VERSION = "0.1.0";

/** @type {readonly (readonly [string, readonly (readonly [string, string])[]])[]} */
const GROUPS = [
  [
    "EVERY DAY",
    [
      ["apply", "Apply packages and deployments from files; all are checked before the first is sent"],
      ["diff", "Show what applying files would change"],
      ["delete", "Delete what files name, deployments first"],
      ["plan", "What deploying would do, and why; also under assumptions"],
      ["wait", "Wait until a deployment is as wanted"],
      ["explain", "Why a deployment is not ready, or what a field of a file means"],
      ["logs", "What happened to a class in its clusters, and what happens now"],
      ["events", "Follow what happens on the platform"],
      ["topology", "What runs where, as a tree"],
    ],
  ],
  [
    "WHAT THERE IS",
    [
      ["package", "Packages: classes and functions, kept in revisions"],
      ["deployment", "Deployments: classes that run in clusters (also: deploy)"],
      ["class", "Classes of all packages"],
      ["function", "Functions of all packages"],
      ["runtime", "Class runtimes: what runs in each cluster"],
      ["cluster", "Clusters that this platform deploys to"],
    ],
  ],
  [
    "ON THIS MACHINE",
    [
      ["up", "Start the local stack: package manager, clusters, examples"],
      ["down", "Stop the local stack; its data stays"],
      ["reset", "Stop the local stack and delete its data"],
      ["status", "How the local stack is: parts, addresses, memory"],
      ["lab", "Break the local stack on purpose, and see what happens"],
    ],
  ],
  [
    "SETTING UP",
    [
      ["login", "Keep a platform's address and token, and use it from now on"],
      ["context", "Platforms that this command line knows"],
      ["doctor", "Look at everything between here and running classes"],
      ["completion", "Print the completion script of a shell"],
    ],
  ],
];

const EXAMPLES = [
  ["oaas apply -f shop.yaml --wait", "bring it about, and watch it"],
  ["oaas plan -f shop-order.yaml --cluster-down edge", "what if?"],
  ["oaas explain shop-order", "why is it not ready?"],
  ["oaas deployment list -o wide", "how is everything?"],
];

/** @param {readonly (readonly string[])[]} rows */
function columns(rows) {
  const width = Math.max(...rows.map(([first = ""]) => first.length)) + 2;
  return rows.map(([first = "", second = ""]) => `  ${first.padEnd(width)}${second}\n`).join("");
}

/** The page as it is printed. */
function frontPage() {
  const groups = GROUPS.map(([title, commands]) => `\n${title}\n${columns(commands)}`);
  return `oaas ${VERSION}: deploy classes over clusters and see how they are

USAGE
  oaas <command> [flags]     oaas <command> --help tells its flags, with examples
${groups.join("")}
EXAMPLES
${columns(EXAMPLES)}
FLAGS OF ALL COMMANDS
${columns([
  ["--context", "which platform to talk to (oaas context list)"],
  ["-o, --output", "table, wide, json, yaml, name or jsonpath=TEMPLATE"],
  ["-h, --help", "help on a command"],
  ["-v, --version", "the version of this command line"],
])}`;
}

/**
 * Whether a command line asks for the page and nothing else.
 * @param {readonly string[]} argv
 */
function asksForFrontPage(argv) {
  return argv.length === 0 || (argv.length === 1 && ["--help", "-h", "help"].includes(argv[0] ?? ""));
}

module.exports = { VERSION, GROUPS, frontPage, asksForFrontPage };
