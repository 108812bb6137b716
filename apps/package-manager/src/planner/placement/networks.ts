import type { CandidateCluster } from "../plan-types.ts";
import type { Candidate } from "./candidates.ts";

/** A data plane network: its name, or of a cluster that reports none, that cluster alone. */
export type NetworkKey = `network ${string}` | `cluster ${string}`;

/** The data plane network of a cluster. */
export function networkOf({ name, reading }: Pick<CandidateCluster, "name" | "reading">): NetworkKey {
  const network = reading?.dataPlaneNetwork;
  return network === undefined ? `cluster ${name}` : `network ${network}`;
}

/** Candidates by network, in their order. */
export function byNetwork(candidates: readonly Candidate[]): ReadonlyMap<NetworkKey, readonly Candidate[]> {
  return Map.groupBy(candidates, ({ cluster }) => networkOf(cluster));
}

/** Says that clusters are in different networks, one cluster of each. */
export function unconnectedText(names: readonly string[]): string {
  return `${listText(names)} share no data plane network`;
}

/** The change of the operator that connects clusters. */
export const CONNECT_FIX =
  "connect their routers and set OPRC_CRM_DATA_PLANE_NETWORK of their class runtime managers to the same name";

/** Names in a sentence; of many only the first ones. */
export function listText(names: readonly string[]): string {
  const shown = names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), `${names.length - MAX_NAMES} more`] : names;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

const MAX_NAMES = 8;
