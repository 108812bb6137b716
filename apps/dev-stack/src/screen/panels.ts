import type { ClusterState } from "../clusters/cluster-state.ts";
import type { Component, StackState } from "../components.ts";
import type { DeploymentExplanation } from "../package-manager/ports.ts";
import { quoteForShell } from "./shell-text.ts";

/** The keys, in the last line of the screen. */
export const KEYS_LINE = "  Keys      ↑ ↓ select   Enter details   / filter   l logs   ? help   q stop";

/** The help of the screen. */
export function helpLines(): readonly string[] {
  return [
    "  Help (? or Esc closes it):",
    "",
    "    ↑ ↓ or k j   select a component",
    "    Enter        details of the selected component: conditions, the reason, commands",
    "    /            filter: type a text, Enter keeps it, Esc clears it",
    "    l            the last log lines of all components",
    "    Esc          close the panel, then clear the filter, then the selection",
    "    q, Ctrl-C    stop the stack; its data stays",
    "",
    "    The list refreshes every two seconds. npx oaas --help lists all commands.",
    "",
  ];
}

interface DetailsView {
  readonly state: StackState;
  readonly kubectl: string;
  /** A kubeconfig with all clusters. */
  readonly kubeconfig: string | undefined;
  readonly explanation?: DeploymentExplanation | undefined;
}

/** Conditions, reason and commands of a component. */
export function detailLines(component: Component, view: DetailsView, columns = DEFAULT_COLUMNS): readonly string[] {
  const { facts, commands } = describe(component, view);
  return [
    `  ${component.name.trim()} (Esc closes it):`,
    "",
    ...facts.flatMap((fact) => wrapText(fact, columns - INDENT - 1)).map((line) => `    ${line}`),
    ...(commands.length === 0 ? [] : ["", ...commands.map((line) => `    $ ${line}`)]),
    "",
  ];
}

const DEFAULT_COLUMNS = 100;
const INDENT = 4;

/** Breaks a text at spaces, so that no line is cut off. */
function wrapText(text: string, width: number): readonly string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line === "") lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

interface Details {
  readonly facts: readonly string[];
  readonly commands: readonly string[];
}

function describe({ id, details }: Component, view: DetailsView): Details {
  const [kind = "", name = "", ...rest] = id.split("/");
  if (kind === "deployment") return describeDeployment(name, view);
  if (kind === "cluster") return describeCluster(name, view, rest);
  const commands = kind === "package-manager" ? ["npx oaas doctor", "npx oaas package list"] : [];
  return { facts: [details], commands };
}

function describeDeployment(key: string, { state, explanation }: DetailsView): Details {
  const deployment = state.packageManager.deployments.find((each) => each.key === key);
  const name = quoteForShell(key);
  return {
    facts: [
      explanation?.summary ?? "reading the reason …",
      ...(deployment?.clusters ?? []).map(({ name: cluster, condition }) => {
        const message = explanation?.clusters.find((each) => each.name === cluster)?.message ?? "";
        return `${cluster}: ${condition}${message === "" ? "" : `, ${message}`}`;
      }),
    ],
    commands: [
      `npx oaas deployment status ${name}`,
      `npx oaas explain ${name}`,
      `npx oaas logs ${name}`,
      `npx oaas deployment history ${name}`,
    ],
  };
}

function describeCluster(name: string, view: DetailsView, [part, ...object]: readonly string[]): Details {
  const cluster = view.state.clusters.find((each) => each.name === name);
  if (cluster === undefined) return { facts: ["not part of the stack any more"], commands: [] };
  const { apiUrl, managerUrl, classes, broken, detail } = cluster;
  const cli = quoteForShell(name);
  if (part === "class") {
    const [namespace = "", className = ""] = object;
    const found = classes.find((each) => each.namespace === namespace && each.name === className);
    const inspect = `-n ${namespace} describe classruntime ${className}`;
    return {
      facts: [`phase: ${found?.phase ?? "deleted"}`, `message: ${found?.message ?? "none"}`],
      commands: [`npx oaas runtime list --cluster ${cli}`, ...kubectlCommands(cluster, view, inspect)],
    };
  }
  return {
    facts: [
      `state: ${[cluster.state, detail, broken].filter(Boolean).join(", ")}`,
      `API server: ${apiUrl ?? "none"}`,
      `class runtime manager: ${managerUrl ?? "none"}`,
    ],
    commands: [
      `npx oaas cluster health ${cli}`,
      ...kubectlCommands(cluster, view, "get classruntimes,deployments,pods"),
    ],
  };
}

function kubectlCommands({ context }: ClusterState, { kubectl, kubeconfig }: DetailsView, words: string): string[] {
  if (kubeconfig === undefined) return [];
  return [`export KUBECONFIG=${quoteForShell(kubeconfig)}`, `${kubectl} --context ${quoteForShell(context)} ${words}`];
}
