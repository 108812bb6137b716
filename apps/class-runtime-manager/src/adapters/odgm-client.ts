import { lookup } from "node:dns/promises";
import { oprcData } from "@oaas/contracts/grpc";
import { orAbort, type Clock } from "@oaas/foundation";
import { RpcChannel } from "@oaas/rpc";
import type { Grid } from "../odgm-health/grid.ts";
import type { NodeAnswer } from "../odgm-health/judge.ts";
import type { OdgmClient } from "../odgm-health/odgm-health.ts";

/** Resolves the addresses (host:port) of the nodes of a state store. */
export type OdgmResolver = (grid: Grid) => Promise<readonly string[]>;

/** Resolves by cluster DNS: the Service of a single node, or all addresses of the headless Service. */
export function createDnsResolver(clusterDomain: string): OdgmResolver {
  return async ({ service, nodesService, nodes, port }) => {
    const host = `${nodes > 1 ? nodesService : service}.svc.${clusterDomain}`;
    const found = await lookup(host, { all: true });
    return found.map(({ address, family }) => (family === 6 ? `[${address}]:${port}` : `${address}:${port}`));
  };
}

/** Reads Stats and, if supported, Capabilities from the gRPC API of the data grid. */
export function createOdgmClient(resolve: OdgmResolver, clock: Clock, timeoutMs: number): OdgmClient {
  return {
    query: async (grid, signal) => {
      const addresses = await orAbort(resolve(grid), signal);
      const answers = await Promise.all(
        addresses.map((address) => readNode(address, clock, timeoutMs, signal).catch(() => undefined)),
      );
      return answers.filter((answer) => answer !== undefined);
    },
  };
}

async function readNode(address: string, clock: Clock, deadlineMs: number, signal: AbortSignal): Promise<NodeAnswer> {
  // One connection per reading: thousands of idle connections would cost more.
  const channel = new RpcChannel({ name: "the state store", address, clock, deadlineMs });
  try {
    const client = channel.client(oprcData.DataService);
    const [stats, capabilities] = await Promise.all([
      client.stats({}, { signal }),
      client.capabilities({}, { signal }).catch(() => undefined),
    ]);
    return {
      address,
      shards: stats.shards.map(({ collection, partitionId, shardId, count }) => ({
        collection,
        partition: partitionId,
        shard: Number(shardId),
        objects: Number(count),
      })),
      ...(capabilities ? { capabilities: capabilityNames(capabilities) } : {}),
    };
  } finally {
    channel.close();
  }
}

function capabilityNames(response: oprcData.CapabilitiesResponse): string[] {
  const { stringIds, stringEntryKeys, granularEntryStorage, eventPipelineV2 } = response;
  const flags = {
    string_ids: stringIds,
    string_entry_keys: stringEntryKeys,
    granular_entry_storage: granularEntryStorage,
    event_pipeline_v2: eventPipelineV2,
  };
  return Object.entries(flags)
    .filter(([, isSet]) => isSet)
    .map(([name]) => name);
}
