import { hashJson } from "@oaas/foundation/hash";
import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import type { Basis } from "./collections.ts";

type OdgmConfig = NonNullable<ClassRuntimeSpec["odgm_config"]>;

/** Ids of the nodes of a state store, each sorted. */
export interface NodeIds {
  /** In this cluster. */
  readonly nodes: readonly number[];
  /** In all clusters. */
  readonly members: readonly number[];
}

/** How the workloads of a state store get the ids of its nodes. */
export interface GridNodes extends NodeIds {
  /**
   * - `numbered`: the id is a prefix followed by the pod index, so that one workload runs all nodes. Generated ids have
   *   this form; given ids (`4710, 4711, 4712`) may have it too.
   * - `fixed`: other ids; each needs its own workload, since pods of one workload share their environment variables.
   */
  readonly kind: "fixed" | "numbered";
  /** Digits before the pod index, for `numbered`. */
  readonly prefix: string;
}

/** Ids that the class states; otherwise those in use, and stable generated ones up to `count`. */
export function nodeIds(input: RenderInput, count: number, basis: Basis): NodeIds {
  const config = input.spec.odgm_config;
  const here = idsHere(config, input.spec.origin?.target_env);
  const everywhere = Object.values(config?.env_node_ids ?? {}).flat();
  if (here.length > 0) return { nodes: sorted(here), members: sorted([...everywhere, ...here]) };
  const running = hasOwnPrefix(input, basis) || basis === "fresh" ? undefined : input.storedLayout;
  const inUse = running?.nodes ?? [];
  const prefix = commonPrefix(inUse) ?? String(ownPrefix(input));
  const generated = Array.from({ length: count }, (_, index) => Number(`${prefix}${index}`));
  const nodes = [...new Set([...inUse, ...generated])].slice(0, count);
  const others = (running?.members ?? []).filter((id) => !inUse.includes(id));
  return { nodes: sorted(nodes), members: sorted([...everywhere, ...others, ...nodes]) };
}

/** Decides between one workload for all nodes and one for each. */
export function gridNodes({ nodes, members }: NodeIds): GridNodes {
  const prefix = commonPrefix(nodes);
  return { kind: prefix === undefined ? "fixed" : "numbered", nodes, members, prefix: prefix ?? "" };
}

/** The ids for this cluster from the map, including its own node id. */
function idsHere(config: OdgmConfig | undefined, cluster: string | undefined): readonly number[] {
  const byEnvironment = config?.env_node_ids ?? {};
  const own = config?.node_id;
  const entry =
    (cluster === undefined ? undefined : byEnvironment[cluster]) ??
    Object.values(byEnvironment).find((ids) => own !== undefined && ids.includes(own)) ??
    [];
  return [...(own === undefined ? [] : [own]), ...entry];
}

/** The common prefix of ids that end in 0, 1, 2, …; undefined for other ids. */
function commonPrefix(ids: readonly number[]): string | undefined {
  const [first, ...others] = sorted(ids).map(String);
  if (first === undefined || first.length < 2 || !first.endsWith("0")) return undefined;
  const prefix = first.slice(0, -1);
  return others.every((id, index) => id === `${prefix}${index + 1}`) ? prefix : undefined;
}

/** Whether the settings that count state a prefix, from which ids are generated. */
function hasOwnPrefix({ spec, environment }: RenderInput, basis: Basis): boolean {
  const ofEnvironment = basis === "class" ? undefined : environment?.spec.odgm.defaults?.node_id_prefix;
  return (spec.odgm_config?.node_id_prefix ?? ofEnvironment) !== undefined;
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
