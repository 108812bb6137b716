import { partsOf, STATE_WORDS, type Part, type PartState, type StackState } from "../parts.ts";
import type { Starts } from "../starts.ts";
import { clipped, quoted } from "./text.ts";

/** Everything the screen shows of a stack that is up. */
export interface UpView {
  /** Of the package manager. */
  readonly url: string;
  /** Of the stack's own page. */
  readonly pageUrl: string;
  readonly dataDir: string;
  /** Where `oaas` looks when it is not told otherwise. */
  readonly usual: { readonly url: string; readonly dataDir: string };
  readonly starts: Starts;
  readonly state: StackState;
  /** How to call kubectl on this machine. */
  readonly kubectl: string;
  /** A kubeconfig with every cluster in it; undefined when there are none. */
  readonly kubeconfig: string | undefined;
  readonly rssBytes?: number;
  /** The last lines of the logs, when they are to be seen. */
  readonly logs?: readonly string[];
}

/** What is going on before that. */
export interface StartView {
  readonly doing: string;
  readonly seconds: number;
  readonly notes: readonly string[];
}

/** How a sign is coloured. */
export type Paint = (text: string, state: PartState) => string;

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const SIGNS: Readonly<Record<PartState, string>> = {
  running: "●",
  starting: "◐",
  failed: "✗",
  off: "–",
  absent: "○",
};

const PLAIN: Paint = (text) => text;

/** The screen while the stack starts: what is being done, cluster by cluster, and for how long. */
export function startLines({ doing, seconds, notes }: StartView, size?: Size, paint: Paint = PLAIN): readonly string[] {
  const steps = doing === "" ? [] : doing.split(" · ");
  const lines = [
    "",
    `Starting the OaaS local stack${seconds > 0 ? `, ${seconds} s` : ""}`,
    "",
    ...steps.map((step) => `  ${paint(SIGNS.starting, "starting")} ${step}`),
    ...(notes.length > 0 ? ["", ...notes.map((note) => `  ${note}`)] : []),
    "",
  ];
  return fitting([lines], size);
}

/** The screen of a stack that is up: what runs and how it is, where it is reached, what to try; in a small window what matters most of it. */
export function upLines(view: UpView, size?: Size, paint: Paint = PLAIN): readonly string[] {
  const head = headLines(view, paint);
  const foot = [...whereLines(view), ""];
  const short = [...headLines(view, paint, ({ name }) => !DETAILS.has(name)), stopLine(view), ""];
  if (view.logs) {
    const logs = ["  Logs (l hides them):", "", ...view.logs.map((line) => `    ${line}`), ""];
    return fitting([[...head, ...logs, ...foot], [...head, ...logs], short], size);
  }
  const [ask, inside] = [askLines(view), clusterLines(view)];
  return fitting([[...head, ...ask, ...inside, ...foot], [...head, ...ask, ...foot], [...head, ...foot], short], size);
}

/** Parts that are left out first. */
const DETAILS = new Set(["  class", "Console", "Durable store"]);

/** The folder is named where it must be: without it `oaas down` would stop another stack. */
function stopLine({ dataDir, usual }: UpView): string {
  return `  Stop      Ctrl-C, or npx oaas down${dataDir === usual.dataDir ? "" : ` --data ${quoted(dataDir)}`}`;
}

function headLines(
  { url, state }: UpView,
  paint: Paint,
  isShown: (part: Part) => boolean = () => true,
): readonly string[] {
  const parts = partsOf(state).filter(isShown);
  const rows = parts.map(({ name, what, state: of }) => `  ${paint(SIGNS[of], of)} ${name.padEnd(25)} ${what}`);
  const legend = [...new Set(parts.map(({ state: of }) => `${paint(SIGNS[of], of)} ${STATE_WORDS[of]}`))].join("   ");
  return ["", `OaaS package manager: ${url}/api/v1 (reference: ${url}/docs)`, "", ...rows, "", `  ${legend}`, ""];
}

/** The first picture that fits the window, else the beginning of the last with a word about it; without a size the first. */
function fitting(pictures: readonly (readonly string[])[], size: Size | undefined): readonly string[] {
  const [whole = [], ...smaller] = pictures;
  if (size === undefined) return whole;
  const room = Math.max(size.rows - 1, 1);
  const lines = pictures.find((picture) => picture.length <= room) ?? smaller.at(-1) ?? whole;
  const kept = lines.length <= room ? lines : [...lines.slice(0, room - 1), "  … a larger window shows more"];
  return kept.map((line) => clipped(line, size.columns - 1));
}

function whereLines(view: UpView): readonly string[] {
  const { pageUrl, dataDir, starts, rssBytes } = view;
  const last = starts.previousAt === undefined ? "" : `, the last was ${starts.previousAt}`;
  const memory = rssBytes === undefined ? [] : [`  Memory    ${Math.round(rssBytes / 2 ** 20)} MB in all`];
  return [
    `  Walk      README.md, "A walk": a package from its registration to its end, with curl`,
    `  Lab       npx oaas lab: break a cluster, a manager, the network, and see what happens`,
    `  Page      ${pageUrl} (all of the above, as it is now; /health for programs)`,
    `  Data      ${dataDir} (start ${starts.count}${last})`,
    ...memory,
    "  Settings  npm start -- --help",
    stopLine(view),
  ];
}

/** Commands to copy, each a whole line; first what lets `oaas` find this stack, where it would look elsewhere. */
function askLines({ url, dataDir, usual, state }: UpView): readonly string[] {
  const settings = [
    ...(url === usual.url ? [] : [`OAAS_PM_URL=${url}`]),
    ...(dataDir === usual.dataDir ? [] : [`OAAS_STACK_DATA_DIR=${quoted(dataDir)}`]),
  ];
  const find = settings.length === 0 ? [] : [`export ${settings.join(" ")}   # for npx oaas`];
  // The one there is most to see of.
  const [deployment] = state.packageManager.deployments.toSorted((a, b) => b.clusters.length - a.clusters.length);
  const it = `${url}/api/v1/deployments/${deployment?.key ?? ""}`;
  const commands =
    deployment === undefined
      ? [`curl ${url}/health`, `curl ${url}/api/v1/packages`]
      : [
          `curl ${url}/api/v1/clusters`,
          `curl ${it}/status`,
          `curl ${it}/explain`,
          `curl ${it}/revisions`,
          `curl -N ${url}/api/v1/events`,
        ];
  return ["  Ask it, in another terminal:", "", ...[...find, ...commands].map((line) => `    ${line}`), ""];
}

/** One line to copy, then kubectl finds every cluster by its context. */
function clusterLines({ state: { clusters }, kubectl, kubeconfig }: UpView): readonly string[] {
  if (clusters.length === 0 || kubeconfig === undefined) return [];
  return [
    "  Look into the clusters:",
    "",
    `    export KUBECONFIG=${quoted(kubeconfig)}`,
    ...clusters.map(({ context }) => `    ${kubectl} --context ${quoted(context)} get classruntimes,deployments,pods`),
    "",
  ];
}
