import { hashJson } from "@oaas/foundation/hash";
import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import type { RenderInput } from "../../rendering/model/render-input.ts";

type OdgmConfig = NonNullable<ClassRuntimeSpec["odgm_config"]>;

/** The data grid's nodes in this cluster, and all of them everywhere. */
export interface GridNodes {
  /**
   * - `numbered`: the id is a prefix with the pod's number behind it, so that one workload holds them all. Our own ids are
   *   made so; given ones (`4710, 4711, 4712`) count as such when they look so.
   * - `fixed`: given ids of another form, or one alone; each is a workload of its own, since pods of one share their
   *   variables
   */
  readonly kind: "fixed" | "numbered";
  readonly ids: readonly number[];
  /** Digits before the pod's number, for `numbered`. */
  readonly prefix: string;
  /** Ids of all nodes in all clusters, sorted. */
  readonly members: readonly number[];
}

/** Ids that Package Manager gave win; else `replicas` nodes with ids of our own, always the same for the same object. */
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

/** The ids meant for this cluster: all of its entry in the map, among them its own node id. */
function idsHere(config: OdgmConfig | undefined, cluster: string | undefined): readonly number[] {
  const byEnvironment = config?.env_node_ids ?? {};
  const own = config?.node_id;
  const entry =
    (cluster === undefined ? undefined : byEnvironment[cluster]) ??
    Object.values(byEnvironment).find((ids) => own !== undefined && ids.includes(own)) ??
    [];
  return [...new Set([...(own === undefined ? [] : [own]), ...entry])];
}

/** What ids have before the numbers 0, 1, 2, … of their pods, when there are several and they are made so. */
function commonPrefix(ids: readonly number[]): string | undefined {
  const [first, ...others] = sorted(ids).map(String);
  if (first === undefined || others.length === 0 || first.length < 2 || !first.endsWith("0")) return undefined;
  const prefix = first.slice(0, -1);
  return others.every((id, index) => id === `${prefix}${index + 1}`) ? prefix : undefined;
}

/** Eight to nine digits from the object's name: with a pod's number behind them still an exact number. */
function ownPrefix({ owner }: RenderInput): number {
  const digits = hashJson([owner.namespace, owner.name]).slice(0, 7);
  return 10_000_000 + Number.parseInt(digits, 16);
}

function sorted(ids: readonly number[]): readonly number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
