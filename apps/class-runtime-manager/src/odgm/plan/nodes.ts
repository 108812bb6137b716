import { hashJson } from "@oaas/foundation/hash";
import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import type { RenderInput } from "../../rendering/model/render-input.ts";

type OdgmConfig = NonNullable<ClassRuntimeSpec["odgm_config"]>;

/** The nodes of the state store in this cluster, and its members in all clusters. */
export interface GridNodes {
  /**
   * - `numbered`: the id is a prefix followed by the pod index, so that one workload runs all nodes. Generated ids have
   *   this form; given ids (`4710, 4711, 4712`) may have it too.
   * - `fixed`: other ids; each needs its own workload, since pods of one workload share their environment variables.
   */
  readonly kind: "fixed" | "numbered";
  readonly ids: readonly number[];
  /** Digits before the pod index, for `numbered`. */
  readonly prefix: string;
  /** Ids of all nodes in all clusters, sorted. */
  readonly members: readonly number[];
}

/** Uses ids of the package manager; otherwise generates stable ids for `replicas` nodes. */
export function gridNodes(input: RenderInput, replicas: number): GridNodes {
  const config = input.spec.odgm_config;
  const here = idsHere(config, input.spec.origin?.target_env);
  const everywhere = Object.values(config?.env_node_ids ?? {}).flat();
  if (here.length > 0) {
    const members = sorted([...everywhere, ...here]);
    const shared = commonPrefix(here);
    return shared === undefined
      ? { kind: "fixed", ids: here, prefix: "", members }
      : { kind: "numbered", ids: sorted(here), prefix: shared, members };
  }
  const prefix = String(ownPrefix(input));
  const ids = Array.from({ length: replicas }, (_, index) => Number(`${prefix}${index}`));
  return { kind: "numbered", ids, prefix, members: sorted([...everywhere, ...ids]) };
}

/** The ids for this cluster from the map, including its own node id. */
function idsHere(config: OdgmConfig | undefined, cluster: string | undefined): readonly number[] {
  const byEnvironment = config?.env_node_ids ?? {};
  const own = config?.node_id;
  const entry =
    (cluster === undefined ? undefined : byEnvironment[cluster]) ??
    Object.values(byEnvironment).find((ids) => own !== undefined && ids.includes(own)) ??
    [];
  return [...new Set([...(own === undefined ? [] : [own]), ...entry])];
}

/** The common prefix of several ids that end in 0, 1, 2, …; undefined for other ids. */
function commonPrefix(ids: readonly number[]): string | undefined {
  const [first, ...others] = sorted(ids).map(String);
  if (first === undefined || others.length === 0 || first.length < 2 || !first.endsWith("0")) return undefined;
  const prefix = first.slice(0, -1);
  return others.every((id, index) => id === `${prefix}${index + 1}`) ? prefix : undefined;
}

/**
 * Eight to nine digits from a hash of the name and the stated prefix: with a pod index appended, still a safe integer.
 * Equal classes in two clusters get different ids when the prefixes differ.
 */
function ownPrefix({ owner, spec, environment }: RenderInput): number {
  const stated = spec.odgm_config?.node_id_prefix ?? environment?.spec.odgm.defaults?.node_id_prefix;
  const names = [owner.namespace, owner.name, ...(stated === undefined ? [] : [stated])];
  const digits = hashJson(names).slice(0, 7);
  return 10_000_000 + Number.parseInt(digits, 16);
}

function sorted(ids: readonly number[]): readonly number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
