import type { FindingWire } from "@oaas/contracts/rest";

interface SharedCause {
  readonly finding: FindingWire | undefined;
  /** Why the clusters are unreachable, without a finding. */
  readonly error: string | undefined;
  readonly action: string;
  /** The clusters with this cause, sorted. */
  readonly clusters: readonly string[];
  /** Whether the deployment has no other cluster. */
  readonly isOnlyCluster: boolean;
}

/**
 * The cause and what to do, for example: "Function charge in edge and cloud: the registry has no image shop:2. Waiting will
 * not help: fix the name or tag of the image and apply again."
 */
export function summarizeCluster({ finding, error, action, clusters, isOnlyCluster }: SharedCause): string {
  if (finding === undefined) return `Cluster ${listText(clusters)}: ${sentence(error ?? "no information")}`;
  const cause = withClusters(finding, isOnlyCluster ? "" : `in ${listText(clusters)}`);
  if (action === "") return cause;
  return finding.verdict === "permanent"
    ? `${cause} Waiting will not help: ${lowerFirst(action)}`
    : `${cause} ${action}`;
}

/** Inserts the clusters after the component that the message starts with, or before the message. */
function withClusters({ causes, message }: FindingWire, where: string): string {
  const text = sentence(message);
  if (where === "") return text;
  const component = [...causes.map(({ name }) => `Function ${name}`), "State store"].find((name) =>
    text.startsWith(`${name}: `),
  );
  return component === undefined
    ? `${upperFirst(where)}: ${text}`
    : `${component} ${where}${text.slice(component.length)}`;
}

/** "edge", "edge and cloud", "edge, cloud and core". */
function listText(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1) ?? ""}`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
