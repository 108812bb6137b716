import { isFault, type Clock } from "@oaas/foundation";
import type { ClusterHealth, ClusterName } from "@oaas/models";
import type { RpcCallOptions } from "@oaas/rpc";
import type { CrmServices } from "../connection/crm-connection.ts";
import { healthFromServing, healthFromWire } from "../wire/facts-from-wire.ts";

/** A health reading, and the API features of the peer; undefined if the peer does not report them. */
export interface HealthResult {
  readonly health: ClusterHealth;
  readonly features: readonly string[] | undefined;
}

/** Queries health by the current method, then by the one of August 2025, then by the standard gRPC health check. */
export async function queryHealth(
  cluster: ClusterName,
  { info, health }: CrmServices,
  call: RpcCallOptions,
  clock: Clock,
): Promise<HealthResult> {
  const env = await undefinedIfUnimplemented(info.getEnvHealth({ env: cluster }, call));
  if (env !== undefined) return { health: healthFromWire(cluster, env, clock.now()), features: env.apiFeatures };
  const legacy = await undefinedIfUnimplemented(info.getClusterHealth({ cluster }, call));
  if (legacy !== undefined) {
    return { health: healthFromWire(cluster, legacy, clock.now()), features: legacy.apiFeatures };
  }
  const { status } = await health.check({ service: "" }, call);
  return { health: healthFromServing(cluster, status, clock.now()), features: undefined };
}

async function undefinedIfUnimplemented<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (thrown) {
    if (isFault(thrown, "unimplemented")) return undefined;
    throw thrown;
  }
}
