import type { EnvVar } from "@oaas/models";
import type { FunctionPlan } from "../plan/class-plan.ts";
import type { RenderInput } from "../model/render-input.ts";
import { telemetryEnv } from "./telemetry-env.ts";

/** Environment variables by name. */
export type Env = Readonly<Record<string, string>>;

export type { EnvVar };

/**
 * Sorted by name, so that equal variables render equal text in every reconcile. Stated variables follow in their own
 * order, because `$(NAME)` refers to earlier ones, and replace variables of the same name.
 */
export function envList(env: Env, stated: readonly EnvVar[] = []): readonly EnvVar[] {
  const replaced = new Set(stated.map(({ name }) => name));
  const platform = Object.entries(env)
    .filter(([name]) => !replaced.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => ({ name, value }));
  return [...platform, ...stated];
}

/** The environment variables of a function. The function's own config has the highest precedence. */
export function functionEnv(input: RenderInput, fn: FunctionPlan, ofAddons: Env): Env {
  const { spec, owner } = input;
  const { throughputRps, latencyMs } = fn.requirements;
  return {
    FUNCTION_KEY: fn.key,
    DEPLOYMENT_ID: spec.origin?.deployment_id ?? owner.name,
    ENVIRONMENT: environmentName(input),
    ...(throughputRps === undefined ? {} : { EXPECTED_THROUGHPUT: String(throughputRps) }),
    ...(latencyMs === undefined ? {} : { MAX_LATENCY_MS: String(latencyMs) }),
    ...routerEnv(input, "client"),
    ...telemetryEnv(input, owner.name),
    ...ofAddons,
    ...fn.spec.config,
  };
}

/** The name of the environment of a class, or the profile of the class runtime manager without one. */
export function environmentName({ environment, cluster }: RenderInput): string {
  return environment?.name ?? cluster.profile;
}

/** Zenoh settings for pods; empty without routers. */
export function routerEnv({ cluster }: RenderInput, mode: "client" | "peer"): Env {
  const peers = routerPeers(cluster.routers);
  return peers.length === 0 ? {} : { OPRC_ZENOH_MODE: mode, OPRC_ZENOH_PEERS: peers.join(",") };
}

/** Router addresses in Zenoh syntax. */
export function routerPeers(routers: RenderInput["cluster"]["routers"]): readonly string[] {
  return routers.map(({ service, port }) => `tcp/${service}:${port}`).sort();
}
