import type { Reply } from "@oaas/contracts/rest";
import { Fault } from "@oaas/foundation";
import { pluralOf } from "../../command/kinds.ts";
import { parseTargets, type ObjectReference } from "../../command/targets.ts";
import { UsageError } from "../../exit-code.ts";
import type { View } from "../../output/format.ts";
import {
  changeText,
  complianceText,
  isChangeRecommended,
  valueText,
  type Measurement,
  type Recommendation,
} from "../../output/nfr-text.ts";
import { ageText } from "../../output/table.ts";
import type { Session } from "../../session/session.ts";

type Runtime = Reply<"listClassRuntimes">["value"][number];

type Usage = Reply<"getClusterUsage">["value"][number];

/** One component of a class in one cluster: its signals, requirements, recommendations and last changes. */
export interface TopRow {
  readonly class_key: string;
  readonly cluster: string;
  readonly component: string;
  /** Measured values by name, from the recommendations of the component. */
  readonly signals: Readonly<Record<string, number>>;
  readonly requirements: readonly Measurement[];
  readonly recommendations: readonly Recommendation[];
  readonly last_changes: readonly Recommendation[];
  /** Time of the newest measurement. */
  readonly observed_at?: string;
  /** Present usage of its pods, where the cluster has a metrics API. */
  readonly usage?: Usage;
}

export interface TopFlags {
  readonly package?: string;
  readonly class?: string;
  readonly cluster?: string;
}

/** Shows load, requirements, recommendations and last changes of every component, the busiest first. */
export async function top(session: Session, flags: TopFlags, ...args: readonly string[]): Promise<void> {
  const query = { package_name: flags.package, class_key: flags.class, cluster: flags.cluster };
  const isSelected = await selectRows(session, args);
  const runtimes = await session.listAll("listClassRuntimes", { query });
  const usages = await readUsages(session, [...new Set(runtimes.flatMap(({ cluster_name }) => cluster_name ?? []))]);
  const rows = runtimes.flatMap((runtime) =>
    topRows(runtime, usages.get(runtime.cluster_name ?? "")).filter((row) => isSelected(runtime, row)),
  );
  session.printList(rows.toSorted(compareRows), topView(session));
}

/** Clusters that are asked at the same time. */
const WIDTH = 16;

/** The usage of each cluster; a note names the clusters that cannot report it, and why. */
async function readUsages(
  session: Session,
  clusters: readonly string[],
): Promise<ReadonlyMap<string, readonly Usage[]>> {
  const usages = new Map<string, readonly Usage[]>();
  const reasons = new Map<string, string[]>();
  const queue = [...clusters];
  const work = async (): Promise<void> => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      try {
        usages.set(name, (await session.call("getClusterUsage", { parameters: { name } })).value);
      } catch (thrown) {
        const { message } = Fault.from(thrown);
        reasons.set(message, [...(reasons.get(message) ?? []), name]);
      }
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, work));
  for (const [reason, names] of reasons) {
    session.printNote(`note: no present usage from ${names.toSorted().join(", ")}: ${reason}\n`);
  }
  return usages;
}

type RowFilter = (runtime: Runtime, row: TopRow) => boolean;

/** The rows of the objects that the arguments name; all rows for a kind without names. */
async function selectRows(session: Session, args: readonly string[]): Promise<RowFilter> {
  if (args.length === 0) return () => true;
  const targets = parseTargets(args);
  const kinds = targets.of === "kinds" ? targets.kinds : targets.objects.map(({ kind }) => kind);
  const other = kinds.find((kind) => kind === "event" || kind === "context");
  if (other !== undefined)
    throw new UsageError(
      `${pluralOf(other)} have no load`,
      "use deployments, packages, classes, functions or clusters",
    );
  if (targets.of === "kinds") return () => true;
  const filters = await Promise.all(targets.objects.map((object) => rowFilter(session, object)));
  return (runtime, row) => filters.some((isSelected) => isSelected(runtime, row));
}

async function rowFilter(session: Session, { kind, name }: ObjectReference): Promise<RowFilter> {
  switch (kind) {
    case "deployment": {
      const { value } = await session.call("getDeploymentStatus", { parameters: { key: name } });
      const units = new Set(value.clusters.map(({ unit_id }) => unit_id));
      return ({ id }) => units.has(id);
    }
    case "package":
      return ({ package_name }) => package_name === name;
    case "class":
      return ({ class_key }) => class_key === name || class_key.endsWith(`.${name}`);
    case "function":
      return (_, { component }) => component === name;
    case "cluster":
      return (_, { cluster }) => cluster === name;
    case "class-runtime":
    case "event":
    case "context":
      return ({ id }) => id === name;
  }
}

/** The rows of one class runtime. Functions that are not measured have a row as well. */
export function topRows(runtime: Runtime, usages: readonly Usage[] = []): TopRow[] {
  const {
    functions = [],
    nfr_recommendations: all = [],
    last_applied_recommendations: applied = [],
  } = runtime.status ?? {};
  const requirements = runtime.nfr_compliance?.measurements ?? [];
  const used = new Map(usages.filter(({ unit_id }) => unit_id === runtime.id).map((one) => [one.component, one]));
  const components = new Set([
    ...functions.map(({ function_key }) => function_key),
    ...[...all, ...applied, ...requirements].map(({ component }) => component),
    ...used.keys(),
  ]);
  return [...components].map((component) => {
    const recommendations = all.filter((one) => one.component === component);
    const usage = used.get(component);
    const observed = recommendations.flatMap(({ observed_at }) => observed_at ?? []).toSorted();
    return {
      class_key: runtime.class_key,
      cluster: runtime.cluster_name ?? runtime.target_environment,
      component,
      signals: Object.assign({}, ...recommendations.map(({ evidence }) => evidence?.values)) as TopRow["signals"],
      requirements: requirements.filter((one) => one.component === component),
      recommendations,
      last_changes: applied.filter((one) => one.component === component),
      ...(observed.length === 0 ? {} : { observed_at: observed.at(-1) as string }),
      ...(usage === undefined ? {} : { usage }),
    };
  });
}

function compareRows(a: TopRow, b: TopRow): number {
  const load = (row: TopRow): number => row.signals["requests_per_second"] ?? -1;
  const name = (row: TopRow): string => `${row.class_key} ${row.cluster} ${row.component}`;
  const cpu = (row: TopRow): number => row.usage?.cpu_millicores ?? -1;
  return load(b) - load(a) || cpu(b) - cpu(a) || (name(a) < name(b) ? -1 : 1);
}

function topView({ environment, colours }: Session): View<TopRow> {
  const now = environment.clock.now();
  return {
    kind: "component",
    nameOf: ({ cluster, class_key, component }) => `${cluster}/${class_key}/${component}`,
    columns: [
      { header: "CLASS", cell: ({ class_key }) => class_key },
      { header: "CLUSTER", cell: ({ cluster }) => cluster },
      { header: "COMPONENT", cell: ({ component }) => component },
      { header: "RPS", cell: ({ signals }) => valueText(signals["requests_per_second"], "") },
      { header: "LATENCY", cell: ({ signals }) => latencyText(signals) },
      { header: "CPU", cell: ({ usage }) => valueText(usage?.cpu_millicores, "cpu") },
      { header: "MEMORY", cell: ({ usage }) => valueText(usage?.memory_bytes, "memory") },
      { header: "REPLICAS", cell: ({ signals, usage }) => valueText(signals["ready_replicas"] ?? usage?.pods, "") },
      { header: "REQUIREMENTS", cell: ({ requirements }) => complianceText(worstStatus(requirements), colours) },
      {
        header: "RECOMMENDED",
        cell: ({ recommendations }) =>
          recommendations
            .filter((one) => isChangeRecommended(one, now))
            .map(targetText)
            .join(", ") || "-",
      },
      { header: "MEASURED", cell: ({ observed_at }) => ageText(observed_at, now) },
      { header: "CPU P90", isWide: true, cell: ({ signals }) => valueText(signals["p90_millicores"], "cpu") },
      { header: "MEMORY P90", isWide: true, cell: ({ signals }) => valueText(signals["p90_bytes"], "memory") },
      {
        header: "LAST CHANGE",
        isWide: true,
        cell: ({ last_changes }) => last_changes.map((one) => changeText(one, { now })).join("; ") || "-",
      },
    ],
  };
}

/** The highest percentile that was measured: `p99 80 ms`. */
function latencyText(signals: TopRow["signals"]): string {
  for (const percentile of ["p99", "p95", "p50"]) {
    const ms = signals[`latency_${percentile}_ms`];
    if (ms !== undefined) return `${percentile} ${valueText(ms, "")} ms`;
  }
  return "-";
}

function worstStatus(requirements: readonly Measurement[]): string | undefined {
  return ["violated", "unknown", "met"].find((status) => requirements.some((one) => one.status === status));
}

function targetText({ dimension, current, target }: Recommendation): string {
  const from = current === undefined ? "" : `${valueText(current, dimension)} → `;
  return `${dimension} ${from}${valueText(target, dimension)}`;
}
