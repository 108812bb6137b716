import { SIGNALS, type Signal } from "@oaas/nfr";
import {
  ComponentIndex,
  templateOf,
  type ComponentTarget,
  type NamingScheme,
  type QueryOverrides,
  type QueryTemplate,
} from "@oaas/nfr/queries";

/** The components whose samples one query of a signal returns: those with the same template. */
export interface QueryGroup extends CoveredTargets {
  readonly signal: Signal;
  readonly template: QueryTemplate;
}

interface CoveredTargets {
  readonly index: ComponentIndex;
  readonly keys: ReadonlySet<string>;
  /** Namespaces, a bounded number per query. */
  readonly chunks: readonly (readonly string[])[];
  readonly hasLatencyRequirement: boolean;
}

/** The templates of the cluster. */
export interface ClusterQueries {
  readonly scheme: NamingScheme;
  readonly overrides: QueryOverrides;
}

/** Namespaces in one query, which bounds its length. */
const MAX_NAMESPACES = 100;

/** One group per signal, and one more for each template of an environment that differs. */
export function groupTargets(targets: readonly ComponentTarget[], cluster: ClusterQueries): readonly QueryGroup[] {
  const environments = [...Map.groupBy(targets, environmentKey).values()];
  const covered = new Map<string, CoveredTargets>();
  return SIGNALS.flatMap((signal) => {
    const byTemplate = Map.groupBy(environments, ([first]) => templateFor(signal, first, cluster));
    return [...byTemplate].map(([template, members]) => {
      // Most signals have the same members: one index serves them.
      const id = members.map((each) => environments.indexOf(each)).join();
      const cover = covered.get(id) ?? coverTargets(members.flat());
      covered.set(id, cover);
      return { signal, template, ...cover };
    });
  });
}

/** The template of a signal for a component. */
export function templateFor(
  signal: Signal,
  target: ComponentTarget | undefined,
  { scheme, overrides }: ClusterQueries,
): QueryTemplate {
  return target?.queries?.[signal] ?? templateOf(signal, scheme, overrides);
}

function environmentKey({ queries }: ComponentTarget): string {
  return queries === undefined ? "" : JSON.stringify(queries);
}

function coverTargets(targets: readonly ComponentTarget[]): CoveredTargets {
  return {
    index: new ComponentIndex(targets),
    keys: new Set(targets.map(({ key }) => key)),
    chunks: namespaceChunks(targets),
    hasLatencyRequirement: targets.some(({ maxLatencyMs }) => maxLatencyMs !== undefined),
  };
}

function namespaceChunks(targets: readonly ComponentTarget[]): readonly (readonly string[])[] {
  const names = [...new Set(targets.map(({ namespace }) => namespace))].sort((a, b) => (a < b ? -1 : 1));
  const chunks: string[][] = [];
  for (let at = 0; at < names.length; at += MAX_NAMESPACES) chunks.push(names.slice(at, at + MAX_NAMESPACES));
  return chunks;
}
