import type { Generator } from "../generator.ts";
import { table } from "./markdown.ts";
import { memberOf, nameOf, nodesWith, textOf, textsOf, type SyntaxNode } from "./syntax.ts";

/** The reference page of every metric, from the calls that declare them. */
export const generator: Generator = {
  name: "metrics",
  produce: async (root) => new Map([["docs/reference/metrics.md", metricsReference(declaredMetrics(root))]]),
};

/** A metric as the code declares it. */
export interface DeclaredMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** From the root. */
  readonly file: string;
}

const KINDS = new Set(["counter", "gauge", "histogram"]);

/** Every declaration in the sources, by name. One that cannot be read from the text alone is a mistake. */
export function declaredMetrics(root: string): DeclaredMetric[] {
  const sources = nodesWith(root, ["apps/*/src/**/*.ts", "packages/*/src/**/*.ts"], "help:");
  const found = [...sources].flatMap(([file, nodes]) => nodes.flatMap((node) => declaration(node, file)));
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function declaration(node: SyntaxNode, file: string): DeclaredMetric[] {
  if (node.type !== "CallExpression") return [];
  const callee = node["callee"] as SyntaxNode;
  const type = callee.type === "MemberExpression" ? nameOf(callee["property"]) : undefined;
  const [spec] = node["arguments"] as readonly unknown[];
  if (type === undefined || !KINDS.has(type) || memberOf(spec, "help") === undefined) return [];
  const name = textOf(memberOf(spec, "name"));
  const help = textOf(memberOf(spec, "help"));
  const declared = memberOf(spec, "labels");
  const labels = declared === undefined ? [] : textsOf(declared);
  if (name === undefined || help === undefined || labels === undefined) {
    throw new Error(`${file}: name, help and labels of a ${type} must be literals, so that they can be documented`);
  }
  return [{ name, type, help, labels, file }];
}

/** Who serves a metric, by the folder that declares it, in the order of the page. */
const PROGRAMS = [
  { title: "Package manager", folders: ["apps/package-manager/"] },
  { title: "Class runtime manager", folders: ["apps/class-runtime-manager/"] },
  { title: "gRPC servers (class runtime manager; package manager with `GRPC_PORT`)", folders: ["packages/rpc/"] },
  { title: "Kubernetes client, caches and controllers (class runtime manager)", folders: ["packages/kube-runtime/"] },
] as const;

export function metricsReference(metrics: readonly DeclaredMetric[]): string {
  const placed = PROGRAMS.map(({ title, folders }) => ({
    title,
    own: metrics.filter(({ file }) => folders.some((folder) => file.startsWith(folder))),
  }));
  const nowhere = metrics.filter((metric) => !placed.some(({ own }) => own.includes(metric)));
  if (nowhere.length > 0) throw new Error(`which program serves ${nowhere.map(({ name }) => name).join(", ")}?`);
  const sections = placed.map(({ title, own }) => `## ${title}\n\n${table(HEAD, own.map(row))}\n`);
  return [INTRODUCTION, ...sections].join("\n");
}

const HEAD = ["Metric", "Type", "Labels", "Meaning"];

function row({ name, type, labels, help }: DeclaredMetric): string[] {
  return [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(", "), help];
}

const INTRODUCTION = `# Metrics

<!-- Generated from the declarations in the code by \`npm run generate\`. Do not edit. -->

\`GET /metrics\`, in the text form of Prometheus. The package manager asks for a viewer where callers are known, and serves the same without asking on \`METRICS_PORT\`; the
class runtime manager serves it on the port of everything else.

- A metric has at most 2,000 series; what would be another is counted under labels that all say \`overflow\`.
- With \`SERVER_WORKERS\` above 1 whichever process is asked answers for all of them, and each series has the label \`worker\`.
- Histograms are in seconds and have \`_bucket\`, \`_sum\` and \`_count\`.
- A program by itself also has \`process_*\` and \`nodejs_*\`: CPU, memory, event loop, garbage collection.
`;
