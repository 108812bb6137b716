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

/** All declarations in the sources, by name. Throws for a declaration that is not a literal. */
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

/** The program of a metric, by the folder that declares it, in page order. */
const PROGRAMS = [
  { title: "Package manager", folders: ["apps/package-manager/"] },
  { title: "Class runtime manager", folders: ["apps/class-runtime-manager/"] },
  { title: "gRPC servers (class runtime manager; package manager with `GRPC_PORT`)", folders: ["packages/rpc/"] },
  { title: "Kubernetes client, caches and controllers (class runtime manager)", folders: ["packages/kube-runtime/"] },
  { title: "Configuration file (both managers with `--config`)", folders: ["packages/service-shell/"] },
  { title: "Traces (both managers with `OTEL_EXPORTER_OTLP_ENDPOINT`)", folders: ["packages/observability/"] },
] as const;

export function metricsReference(metrics: readonly DeclaredMetric[]): string {
  const placed = PROGRAMS.map(({ title, folders }) => ({
    title,
    own: metrics.filter(({ file }) => folders.some((folder) => file.startsWith(folder))),
  }));
  const nowhere = metrics.filter((metric) => !placed.some(({ own }) => own.includes(metric)));
  if (nowhere.length > 0)
    throw new Error(`no program for metrics ${nowhere.map(({ name }) => name).join(", ")}; add the folder to PROGRAMS`);
  const sections = placed.map(({ title, own }) => `## ${title}\n\n${table(HEAD, own.map(row))}\n`);
  return [INTRODUCTION, ...sections].join("\n");
}

const HEAD = ["Metric", "Type", "Labels", "Meaning"];

function row({ name, type, labels, help }: DeclaredMetric): string[] {
  return [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(", "), help];
}

const INTRODUCTION = `# Metrics

<!-- Generated from the declarations in the code by \`npm run generate\`. Do not edit. -->

\`GET /metrics\`, in the Prometheus text format, or as OpenMetrics for clients that accept it. Both managers require the role viewer
when authentication is enabled, and serve the same without authentication on a port of its own: \`METRICS_PORT\` of the package
manager and \`OPRC_CRM_METRICS_PORT\` of the class runtime manager.

- A metric has at most 2,000 series; further series are counted in one with all labels set to \`overflow\`.
- With \`SERVER_WORKERS\` above 1 any process returns the metrics of all, and each series has the label \`worker\`.
- Histograms are in seconds and have \`_bucket\`, \`_sum\` and \`_count\`.
- In OpenMetrics a bucket names the trace of its last sampled observation as an exemplar: \`trace_id\` and \`span_id\`.
- A program started on its own also exports \`process_*\` and \`nodejs_*\`: CPU, memory, event loop, garbage collection.
`;
