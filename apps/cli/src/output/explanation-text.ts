import type { FindingWire, Reply } from "@oaas/contracts/rest";
import { stateText, type Colours } from "./colours.ts";

type Explanation = Reply<"explainDeployment">["value"];
type ClusterFinding = Explanation["clusters"][number];

export interface ExplanationContext {
  readonly colours: Colours;
  /** Makes a command line of `oaas` to copy. */
  readonly commandLine: (words: string) => string;
  /** The kubeconfig of each cluster of the local stack. */
  readonly kubeconfigs: ReadonlyMap<string, string>;
}

/** Formats an explanation: the sentence, the chain of causes once for equal clusters, and commands to copy. */
export function explanationText(explanation: Explanation, context: ExplanationContext): string {
  const { colours } = context;
  const chains = groupClusters(explanation.clusters).map((group) => {
    const [first] = group;
    const names = colours.bold(group.map(({ cluster }) => cluster).join(" and "));
    const note = group.length === 1 ? "" : colours.dim(` (objects of ${first?.cluster ?? ""})`);
    const below = first?.finding ? findingText(first.finding, 1, colours) : `  ${first?.error ?? "no information"}\n`;
    return `\n${names}${note}\n${below}`;
  });
  return `${explanation.summary}\n${chains.join("")}${commandsText(explanation, context)}`;
}

/** Clusters with equal findings, apart from the names of their objects. */
function groupClusters(clusters: readonly ClusterFinding[]): readonly (readonly ClusterFinding[])[] {
  const groups = new Map<string, ClusterFinding[]>();
  for (const each of clusters) {
    const shape = each.finding === null ? (each.error ?? "") : JSON.stringify(shapeOf(each.finding));
    groups.set(shape, [...(groups.get(shape) ?? []), each]);
  }
  return [...groups.values()];
}

const NAMED_BY_USER: ReadonlySet<FindingWire["level"]> = new Set(["class", "function", "odgm"]);

/** The finding without names, counts and times that differ between clusters. */
function shapeOf(finding: FindingWire): unknown {
  const { level, name, verdict, reason, causes } = finding;
  // An event repeats its pod; how many there are depends on the time.
  const below = causes.filter((cause) => cause.level !== "event").map(shapeOf);
  return [
    level,
    NAMED_BY_USER.has(level) ? name : "",
    verdict,
    reason,
    level === "class" ? finding.message : "",
    below,
  ];
}

/** Formats a finding and, indented below it, its causes. */
function findingText(finding: FindingWire, depth: number, colours: Colours): string {
  const { level, name, verdict, reason, message, suggested_action: action, causes } = finding;
  const indent = "  ".repeat(depth);
  const what = [reason, message].filter((words) => words !== "").join(": ");
  const line = `${indent}${level} ${name}  ${stateText(verdict, colours)} ${what}\n`;
  const advice = action === "" || causes.length > 0 ? "" : `${indent}  ${colours.dim(`fix: ${action}`)}\n`;
  return line + advice + causes.map((cause) => findingText(cause, depth + 1, colours)).join("");
}

/** Commands that show more about the first cluster with a problem. */
function commandsText({ key, verdict, clusters }: Explanation, context: ExplanationContext): string {
  if (verdict === "healthy") return "";
  const worst = clusters.find(({ finding }) => finding?.verdict === verdict);
  if (worst?.finding === undefined || worst.finding === null) return "";
  const { cluster } = worst;
  const lines = [context.commandLine(`logs ${key} --cluster ${cluster}`), ...kubectlLine(worst, context)];
  return `\n${context.colours.bold("Look closer:")}\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

function kubectlLine({ cluster, finding }: ClusterFinding, { kubeconfigs }: ExplanationContext): readonly string[] {
  const object = finding === null ? undefined : deepestObject(finding);
  if (object === undefined || object.resource === null) return [];
  const { kind, name, namespace } = object.resource;
  const kubeconfig = kubeconfigs.get(cluster);
  const target = kind.toLowerCase();
  const words = [
    "kubectl",
    ...(kubeconfig === undefined ? [] : [`--kubeconfig ${quote(kubeconfig)}`]),
    ...(namespace === null ? [] : [`-n ${namespace}`]),
    object.reason === "Paused" ? `rollout resume ${target}/${name}` : `describe ${target} ${name}`,
    ...(kubeconfig === undefined ? [`  # with the kubeconfig of cluster ${cluster}`] : []),
  ];
  return [words.join(" ")];
}

/** The deepest Kubernetes object on the branch of the worst verdict. */
function deepestObject(finding: FindingWire): FindingWire | undefined {
  const worst = finding.causes.find(({ verdict }) => verdict === finding.verdict);
  const below = worst === undefined ? undefined : deepestObject(worst);
  return below ?? (finding.resource === null ? undefined : finding);
}

function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
