import type { FunctionPlan } from "../plan/class-plan.ts";
import type { RenderInput } from "../model/render-input.ts";
import { telemetryEnv } from "./telemetry-env.ts";

/** Variables by name. */
export type Env = Readonly<Record<string, string>>;

/** One entry of a container's `env`. */
export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: unknown;
}

/** Sorted by name, so that the same variables are the same text in every pass. */
export function envList(env: Env): readonly EnvVar[] {
  return Object.entries(env)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => ({ name, value }));
}

/** What every function is told about itself, whatever addons add; its own config wins over all of it. */
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

/** The name of the environment a class runs in; CRM's profile where there is none. */
export function environmentName({ spec, environment, cluster }: RenderInput): string {
  return environment?.name ?? spec.target_environment ?? cluster.profile;
}

/** How a pod finds the Zenoh routers; empty when there is none. */
export function routerEnv({ cluster }: RenderInput, mode: "client" | "peer"): Env {
  const peers = routerPeers(cluster.routers);
  return peers.length === 0 ? {} : { OPRC_ZENOH_MODE: mode, OPRC_ZENOH_PEERS: peers.join(",") };
}

/** The routers' addresses as Zenoh writes them. */
export function routerPeers(routers: RenderInput["cluster"]["routers"]): readonly string[] {
  return routers.map(({ service, port }) => `tcp/${service}:${port}`).sort();
}
