import { listComponents, STATE_LABELS, type Component, type ComponentState, type StackState } from "../components.ts";
import type { DeploymentExplanation } from "../package-manager/ports.ts";
import type { Starts } from "../start-counter.ts";
import { detailLines, helpLines, KEYS_LINE } from "./panels.ts";
import type { ScreenMode } from "./screen-mode.ts";
import { quoteForShell } from "./shell-text.ts";

/** The data on the screen of a running stack. */
export interface UpView {
  /** URL of the package manager. */
  readonly url: string;
  /** URL of the console; undefined when it is not built. */
  readonly consoleUrl?: string | undefined;
  /** URL of the status page. */
  readonly pageUrl: string;
  readonly dataDir: string;
  /** The defaults of the `oaas` CLI. */
  readonly defaults: { readonly url: string; readonly dataDir: string };
  readonly starts: Starts;
  readonly state: StackState;
  /** The kubectl command on this machine. */
  readonly kubectl: string;
  /** A kubeconfig with all clusters; undefined without clusters. */
  readonly kubeconfig: string | undefined;
  readonly rssBytes?: number;
  /** The last log lines, if shown. */
  readonly logs?: readonly string[];
  /** Absent for output that takes no keys. */
  readonly mode?: ScreenMode;
  /** The explanation of the selected deployment, once it is known. */
  readonly explanation?: DeploymentExplanation | undefined;
}

/** The data on the screen during the start. */
export interface StartView {
  readonly step: string;
  readonly seconds: number;
  readonly notes: readonly string[];
}

/** Colours a symbol by state. */
export type Paint = (text: string, state: ComponentState) => string;

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const SYMBOLS: Readonly<Record<ComponentState, string>> = {
  running: "●",
  starting: "◐",
  degraded: "▲",
  failed: "✗",
  off: "–",
};

const PLAIN: Paint = (text) => text;

/** The screen during the start: the current step of each cluster, and the elapsed time. */
export function startLines({ step, seconds, notes }: StartView, size?: Size, paint: Paint = PLAIN): readonly string[] {
  const steps = step === "" ? [] : step.split(" · ");
  const lines = [
    "",
    `Starting the OaaS local stack${seconds > 0 ? `, ${seconds} s` : ""}`,
    "",
    ...steps.map((step) => `  ${paint(SYMBOLS.starting, "starting")} ${step}`),
    ...(notes.length > 0 ? ["", ...notes.map((note) => `  ${note}`)] : []),
    "",
  ];
  return fitToWindow([lines], size);
}

/**
 * The screen of a running stack: components, addresses and commands to try. A small window shows the most important
 * part.
 */
export function upLines(view: UpView, size?: Size, paint: Paint = PLAIN): readonly string[] {
  const head = headLines(view, paint);
  const keys = view.mode === undefined ? [] : [KEYS_LINE];
  const foot = [...infoLines(view), ...keys, ""];
  const short = [...headLines(view, paint, ({ name }) => !DETAILS.has(name)), ...keys, stopLine(view), ""];
  const panel = panelLines(view, size?.columns);
  if (panel !== undefined) {
    const alone = ["", ...panel, ...keys, ""];
    return fitToWindow([[...head, ...panel, ...foot], [...head, ...panel, ...keys, ""], alone], size);
  }
  const [ask, inside] = [commandLines(view), clusterLines(view)];
  return fitToWindow(
    [[...head, ...ask, ...inside, ...foot], [...head, ...ask, ...foot], [...head, ...foot], short],
    size,
  );
}

/** The panel that the user has opened; undefined for the commands. */
function panelLines(view: UpView, columns?: number): readonly string[] | undefined {
  const { mode, logs, state } = view;
  if (logs !== undefined) return ["  Logs (press l to hide):", "", ...logs.map((line) => `    ${line}`), ""];
  if (mode?.panel === "help") return helpLines();
  const selected = listComponents(state).find(({ id }) => id === mode?.selected);
  return mode?.panel === "details" && selected !== undefined ? detailLines(selected, view, columns) : undefined;
}

/** The components that contain the filter, ignoring case. */
export function shownComponents(state: StackState, filter: string): readonly Component[] {
  const text = filter.toLowerCase();
  return listComponents(state).filter(({ name, details }) => `${name} ${details}`.toLowerCase().includes(text));
}

/** Components omitted in a small window. */
const DETAILS = new Set(["  class", "Console", "Store"]);

/** Names the data folder if it is not the default: `oaas down` would stop another stack without it. */
function stopLine({ dataDir, defaults }: UpView): string {
  return `  Stop      Ctrl-C, or npx oaas down${dataDir === defaults.dataDir ? "" : ` --data ${quoteForShell(dataDir)}`}`;
}

function headLines(
  { url, consoleUrl, state, mode }: UpView,
  paint: Paint,
  isShown: (part: Component) => boolean = () => true,
): readonly string[] {
  const components = shownComponents(state, mode?.filter ?? "").filter(isShown);
  const rows = components.map(({ id, name, details, state: of }) => {
    const marker = id === mode?.selected ? "›" : " ";
    return `${marker} ${paint(SYMBOLS[of], of)} ${name.padEnd(25)} ${details}`;
  });
  const legend = [...new Set(components.map(({ state: of }) => `${paint(SYMBOLS[of], of)} ${STATE_LABELS[of]}`))].join(
    "   ",
  );
  return [
    "",
    ...(consoleUrl === undefined ? [] : [`OaaS console: ${consoleUrl}`]),
    `OaaS package manager: ${url}/api/v1 (API reference: ${url}/docs)`,
    "",
    ...rows,
    "",
    `  ${legend}`,
    ...filterLines(mode, components.length),
    "",
  ];
}

function filterLines(mode: ScreenMode | undefined, shown: number): readonly string[] {
  if (mode === undefined || (mode.filter === "" && !mode.isTyping)) return [];
  const state = mode.isTyping ? "_   Enter keeps it, Esc clears it" : "   / changes it, Esc clears it";
  return [`  Filter: ${mode.filter}${state} (${shown} shown)`];
}

/** The first variant that fits the window, else the truncated last one; without a size, the first one. */
function fitToWindow(variants: readonly (readonly string[])[], size: Size | undefined): readonly string[] {
  const [full = [], ...smaller] = variants;
  if (size === undefined) return full;
  const room = Math.max(size.rows - 1, 1);
  const lines = variants.find((variant) => variant.length <= room) ?? smaller.at(-1) ?? full;
  const kept = lines.length <= room ? lines : [...lines.slice(0, room - 1), "  … enlarge the window to see more"];
  return kept.map((line) => truncateLine(line, size.columns - 1));
}

function infoLines(view: UpView): readonly string[] {
  const { pageUrl, dataDir, starts, rssBytes } = view;
  const last = starts.previousAt === undefined ? "" : `, previous start ${starts.previousAt}`;
  const memory = rssBytes === undefined ? [] : [`  Memory    ${Math.round(rssBytes / 2 ** 20)} MB`];
  return [
    "  Tutorial  README.md",
    "  Load      npx oaas top: load, requirements and recommendations of every function",
    "  Lab       npx oaas lab: inject faults into clusters, managers and the network",
    `  Status    ${pageUrl} (this page in a browser; /health for scripts)`,
    `  Data      ${dataDir} (start ${starts.count}${last})`,
    ...memory,
    "  Settings  npm start -- --help",
    stopLine(view),
  ];
}

/** Commands to copy, one per line. The first one points `oaas` to this stack if it does not use the defaults. */
function commandLines({ url, dataDir, defaults, state }: UpView): readonly string[] {
  const settings = [
    ...(url === defaults.url ? [] : [`OAAS_PM_URL=${url}`]),
    ...(dataDir === defaults.dataDir ? [] : [`OAAS_STACK_DATA_DIR=${quoteForShell(dataDir)}`]),
  ];
  const exports = settings.length === 0 ? [] : [`export ${settings.join(" ")}   # for npx oaas`];
  // Use the deployment with the most clusters as the example.
  const [deployment] = state.packageManager.deployments.toSorted((a, b) => b.clusters.length - a.clusters.length);
  const key = quoteForShell(deployment?.key ?? "");
  const commands =
    deployment === undefined
      ? ["npx oaas doctor", "npx oaas package list"]
      : [
          "npx oaas cluster list",
          `npx oaas deployment status ${key}`,
          `npx oaas explain ${key}`,
          `npx oaas deployment history ${key}`,
          "npx oaas events",
        ];
  return ["  Try it in another terminal:", "", ...[...exports, ...commands].map((line) => `    ${line}`), ""];
}

/** Commands to copy for kubectl: one kubeconfig with a context per cluster. */
function clusterLines({ state: { clusters }, kubectl, kubeconfig }: UpView): readonly string[] {
  if (clusters.length === 0 || kubeconfig === undefined) return [];
  return [
    "  Inspect the clusters:",
    "",
    `    export KUBECONFIG=${quoteForShell(kubeconfig)}`,
    ...clusters.map(
      ({ context }) => `    ${kubectl} --context ${quoteForShell(context)} get classruntimes,deployments,pods`,
    ),
    "",
  ];
}

const ESCAPE = new RegExp(`${String.fromCodePoint(0x1b)}\\[\\d*m`, "y");

/** Truncates a line to a number of columns; colour codes have no width. */
export function truncateLine(line: string, columns: number): string {
  let width = 0;
  let at = 0;
  while (at < line.length) {
    ESCAPE.lastIndex = at;
    const escape = ESCAPE.exec(line);
    if (escape) {
      at += escape[0].length;
      continue;
    }
    if (width === columns) return line.slice(0, at);
    width += 1;
    at += (line.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1;
  }
  return line;
}
