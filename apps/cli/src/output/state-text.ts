import type { Reply } from "@oaas/contracts/rest";
import type { Colours } from "./colours.ts";

type DeploymentState = Reply<"getDeploymentStatus">["value"];
type StateStore = NonNullable<DeploymentState["clusters"][number]["state_store"]>;

/** Whether the state of a deployment can be written, cluster by cluster, and what restarts or waits for it. */
export function stateLines(
  { clusters, state_restart: progress }: Pick<DeploymentState, "clusters" | "state_restart">,
  colours: Colours,
): readonly string[] {
  const stores = clusters.flatMap(({ cluster, reachable, state_store: store }) =>
    reachable && store !== undefined ? [{ cluster, store }] : [],
  );
  const writable = stores.filter(({ store }) => store.writable === true && store.missing_shards.length === 0);
  return [
    ...(writable.length === 0
      ? []
      : [`state: ${colours.good("writable")} in ${writable.map(({ cluster }) => cluster).join(", ")}`]),
    ...stores.flatMap(({ cluster, store }) =>
      problemsOf(store, colours).map((problem) => `state in ${cluster}: ${problem}`),
    ),
    ...(progress === undefined ? [] : progressLines(progress, colours)),
  ];
}

function problemsOf({ writable, missing_shards: missing, restart, message }: StateStore, { warn, bad }: Colours) {
  const because = message === undefined ? "" : `: ${message}`;
  return [
    ...missing.map(
      ({ node_id: node, partition, collection }) =>
        `${bad("missing shard")}: node ${node} lacks partition ${partition} of ${collection}`,
    ),
    ...(writable === false ? [`${bad("writes are not acknowledged")}${because}`] : []),
    ...(writable === undefined ? [`${warn("not known whether it can be written")}${because}`] : []),
    ...(restart === undefined ? [] : [`${warn(RESTARTS[restart.state] ?? restart.state)}: ${restart.message}`]),
  ];
}

const RESTARTS: Readonly<Record<string, string>> = {
  pending: "settings wait for the next restart",
  refused: "restart refused",
  waiting_for_turn: "restart waits for its turn",
};

function progressLines(
  { turn, waiting, message }: NonNullable<DeploymentState["state_restart"]>,
  { warn }: Colours,
): readonly string[] {
  const who = turn === undefined ? "no node" : `node ${turn.node_id} in ${turn.cluster} since ${turn.since}`;
  const nodes = waiting.map(({ cluster, node_id: node }) => `${node} in ${cluster}`).join(", ");
  return [
    `restart over clusters: ${warn(who)}: ${message}`,
    ...(waiting.length === 0 ? [] : [`  nodes that wait for their turn: ${nodes}`]),
  ];
}
