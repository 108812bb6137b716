import { lookup } from "node:dns/promises";
import { oprcData } from "@oaas/contracts/grpc";
import { orAbort, type Clock } from "@oaas/foundation";
import { RpcChannel } from "@oaas/rpc";
import type { Grid } from "../odgm-health/grid.ts";
import type { NodeAnswer } from "../odgm-health/judge.ts";
import type { OdgmClient } from "../odgm-health/odgm-health.ts";

/** Where the nodes of a grid are: host and port each. */
export type GridResolver = (grid: Grid) => Promise<readonly string[]>;

/** Inside the cluster: the Service of a single node, or the addresses behind the one that names them all. */
export function clusterResolver(clusterDomain: string): GridResolver {
  return async ({ service, nodesService, nodes, port }) => {
    const host = `${nodes > 1 ? nodesService : service}.svc.${clusterDomain}`;
    const found = await lookup(host, { all: true });
    return found.map(({ address, family }) => (family === 6 ? `[${address}]:${port}` : `${address}:${port}`));
  };
}

/** Asks over the data grid's own gRPC: Stats, and Capabilities where it has them. */
export function odgmAsker(resolve: GridResolver, clock: Clock, timeoutMs: number): OdgmClient {
  return {
    query: async (grid, signal) => {
      const addresses = await orAbort(resolve(grid), signal);
      const answers = await Promise.all(
        addresses.map((address) => askNode(address, clock, timeoutMs, signal).catch(() => undefined)),
      );
      return answers.filter((answer) => answer !== undefined);
    },
  };
}

async function askNode(address: string, clock: Clock, deadlineMs: number, signal: AbortSignal): Promise<NodeAnswer> {
  // A connection per question: thousands that stay open would cost more than one now and then.
  const channel = new RpcChannel({ name: "the state store", address, clock, deadlineMs });
  try {
    const client = channel.client(oprcData.DataService);
    const [stats, abilities] = await Promise.all([
      client.stats({}, { signal }),
      client.capabilities({}, { signal }).catch(() => undefined),
    ]);
    return {
      shards: stats.shards.map(({ collection, partitionId, count }) => ({
        collection,
        partition: partitionId,
        objects: Number(count),
      })),
      ...(abilities ? { capabilities: namesOf(abilities) } : {}),
    };
  } finally {
    channel.close();
  }
}

function namesOf(abilities: oprcData.CapabilitiesResponse): string[] {
  const { stringIds, stringEntryKeys, granularEntryStorage, eventPipelineV2 } = abilities;
  const named = {
    string_ids: stringIds,
    string_entry_keys: stringEntryKeys,
    granular_entry_storage: granularEntryStorage,
    event_pipeline_v2: eventPipelineV2,
  };
  return Object.entries(named)
    .filter(([, on]) => on)
    .map(([name]) => name);
}
