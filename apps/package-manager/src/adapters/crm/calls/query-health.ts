import { isFault, type Clock } from "@oaas/foundation";
import type { ClusterHealth, ClusterName } from "@oaas/models";
import type { RpcCallOptions } from "@oaas/rpc";
import type { CrmServices } from "../connection/crm-connection.ts";
import { healthFromServing, healthFromWire } from "../wire/facts-from-wire.ts";

/** A reading, and what the peer can do beyond the earlier contract; undefined when it could not even be asked. */
export interface HealthResult {
  readonly health: ClusterHealth;
  readonly features: readonly string[] | undefined;
}

/** Asks for health in the words of today, then of August 2025, then for no more than whether the peer serves. */
export async function queryHealth(
  cluster: ClusterName,
  { info, health }: CrmServices,
  call: RpcCallOptions,
  clock: Clock,
): Promise<HealthResult> {
  const env = await ifImplemented(info.getEnvHealth({ env: cluster }, call));
  if (env !== undefined) return { health: healthFromWire(cluster, env, clock.now()), features: env.apiFeatures };
  const old = await ifImplemented(info.getClusterHealth({ cluster }, call));
  if (old !== undefined) return { health: healthFromWire(cluster, old, clock.now()), features: old.apiFeatures };
  const { status } = await health.check({ service: "" }, call);
  return { health: healthFromServing(cluster, status, clock.now()), features: undefined };
}

async function ifImplemented<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (thrown) {
    if (isFault(thrown, "unimplemented")) return undefined;
    throw thrown;
  }
}
