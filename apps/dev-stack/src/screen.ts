import type { ClusterState } from "./clusters/cluster-state.ts";
import { partsOf, STATE_WORDS, type PartState, type StackState } from "./parts.ts";
import type { Starts } from "./starts.ts";

export interface ScreenInput {
  /** Of the package manager. */
  readonly url: string;
  /** Of the stack's own page. */
  readonly pageUrl: string;
  readonly dataDir: string;
  readonly starts: Starts;
  readonly state: StackState;
  /** How to call kubectl on this machine. */
  readonly kubectl: string;
}

const SIGNS: Readonly<Record<PartState, string>> = {
  running: "●",
  starting: "◐",
  failed: "✗",
  off: "–",
  absent: "○",
};

/** What a person sees when the stack is up. */
export function readyScreen(input: ScreenInput): string {
  const { url, pageUrl, dataDir, starts, state } = input;
  const parts = partsOf(state);
  const rows = parts.map(({ name, what, state: of }) => `  ${SIGNS[of]} ${name.padEnd(25)} ${what}`);
  const legend = [...new Set(parts.map(({ state: of }) => `${SIGNS[of]} ${STATE_WORDS[of]}`))].join("   ");
  return [
    "",
    `OaaS package manager: ${url}/api/v1 (reference: ${url}/docs)`,
    "",
    ...rows,
    "",
    `  ${legend}`,
    "",
    "  Ask it, in another terminal:",
    "",
    ...questions(input).map((line) => `    ${line}`),
    "",
    ...lookInside(state.clusters, input.kubectl),
    `  Walk      README.md, "A walk": a package from its registration to its end, with curl`,
    `  Page      ${pageUrl} (all of the above, as it is now; /health for programs)`,
    `  Data      ${dataDir} (start ${starts.count}${starts.previousAt === undefined ? "" : `, the last was ${starts.previousAt}`})`,
    `  Settings  npm start -- --help`,
    "  Stop      Ctrl-C",
    "",
    "",
  ].join("\n");
}

/** Commands to copy, each a whole line. */
function questions({ url, state }: ScreenInput): readonly string[] {
  const [deployment] = state.packageManager.deployments;
  if (deployment === undefined) return [`curl ${url}/health`, `curl ${url}/api/v1/packages`];
  const it = `${url}/api/v1/deployments/${deployment.key}`;
  return [
    `curl ${url}/api/v1/clusters`,
    `curl ${it}/status`,
    `curl ${it}/explain`,
    `curl ${it}/revisions`,
    `curl -N ${url}/api/v1/events`,
  ];
}

function lookInside(clusters: readonly ClusterState[], kubectl: string): readonly string[] {
  if (clusters.length === 0) return [];
  return [
    "  Look into the clusters:",
    "",
    ...clusters.map(
      ({ kubeconfig = "" }) => `    ${kubectl} --kubeconfig ${quoted(kubeconfig)} get classruntimes,deployments,pods`,
    ),
    "",
  ];
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
