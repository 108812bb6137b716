import type { ClassState, ClusterState } from "./clusters/cluster-state.ts";
import { partsOf, STATE_WORDS, type PartState } from "./parts.ts";
import type { Starts } from "./starts.ts";

export interface ScreenInput {
  readonly url: string;
  readonly dataDir: string;
  readonly starts: Starts;
  readonly clusters: readonly ClusterState[];
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
  const { url, dataDir, starts, clusters } = input;
  const parts = partsOf(clusters);
  const rows = parts.map(({ name, what, state }) => `  ${SIGNS[state]} ${name.padEnd(25)} ${what}`);
  const legend = [...new Set(parts.map(({ state }) => `${SIGNS[state]} ${STATE_WORDS[state]}`))].join("   ");
  return [
    "",
    `OaaS local stack: ${url}`,
    "",
    ...rows,
    "",
    `  ${legend}`,
    "",
    ...clusters.flatMap((cluster) => lookAt(cluster, input.kubectl)),
    `  Data      ${dataDir} (start ${starts.count}${starts.previousAt === undefined ? "" : `, the last was ${starts.previousAt}`})`,
    `  Health    curl ${url}/health`,
    `  Settings  npm start -- --help`,
    "  Stop      Ctrl-C",
    "",
    "",
  ].join("\n");
}

/** Commands to copy, each a whole line. */
function lookAt({ kubeconfig = "", classes }: ClusterState, kubectl: string): readonly string[] {
  return [
    "  Look at it, in another terminal:",
    "",
    `    export KUBECONFIG=${quoted(kubeconfig)}`,
    `    ${kubectl} get classruntimes`,
    ...classes.slice(0, 1).flatMap((one) => lookAtClass(one, kubectl)),
    "",
  ];
}

function lookAtClass({ namespace, name }: ClassState, kubectl: string): readonly string[] {
  const there = namespace === "default" ? "" : ` -n ${namespace}`;
  const image = (tag: string): string =>
    `${kubectl} patch classruntime ${name}${there} --type=json -p '[{"op":"replace","path":"/spec/functions/0/provision_config/container_image","value":"example.test/it:${tag}"}]'`;
  return [
    `    ${kubectl} describe classruntime ${name}${there}`,
    `    ${kubectl} get deployments,services,pods${there} -l oaas.io/owner=${name}`,
    "",
    "  Break it (no node has an image tagged missing), see why, mend it:",
    "",
    `    ${image("missing")}`,
    `    ${kubectl} get classruntime ${name}${there} -o wide`,
    `    ${image("1.0.0")}`,
  ];
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
