import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { compareQuantities, parseQuantity, quantityUnits } from "@oaas/kube-core";
import type { ContainerResources } from "../model/rendered.ts";
import type { ResourceAmounts } from "./policy.ts";

/** CPU and memory, each member optional. */
export type StatedAmounts = { readonly [K in keyof ResourceAmounts]?: string | undefined };

type EnvironmentResources = EnvironmentConfigSpec["odgm"]["container_resources"]["function"];

/**
 * Merges requests and limits: the first source that states a member wins. Defaults adapt when they conflict with stated
 * values: a default limit is raised to a stated request, a default request lowered to a stated limit.
 */
export function containerResources(
  defaults: ResourceAmounts,
  ...sources: readonly (StatedAmounts | undefined)[]
): ContainerResources {
  const amounts = (["cpu", "memory"] as const).map((resource) => {
    const stated = (bound: "request" | "limit"): string | undefined =>
      sources.find((source) => source?.[`${resource}_${bound}`] !== undefined)?.[`${resource}_${bound}`];
    const request = stated("request");
    const limit = stated("limit");
    const defaultRequest = defaults[`${resource}_request`];
    const defaultLimit = defaults[`${resource}_limit`];
    const floor = request ?? (limit === undefined ? defaultRequest : smaller(defaultRequest, limit));
    return { resource, request: floor, limit: limit ?? larger(defaultLimit, floor) };
  });
  return {
    requests: Object.fromEntries(amounts.map(({ resource, request }) => [resource, request])),
    limits: Object.fromEntries(amounts.map(({ resource, limit }) => [resource, limit])),
  };
}

/** Converts the resources of an environment; other resource names are ignored. */
export function environmentAmounts(resources: EnvironmentResources | undefined): StatedAmounts {
  const text = (amount: string | number | undefined): string | undefined =>
    amount === undefined ? undefined : String(amount);
  return {
    cpu_request: text(resources?.requests?.["cpu"]),
    memory_request: text(resources?.requests?.["memory"]),
    cpu_limit: text(resources?.limits?.["cpu"]),
    memory_limit: text(resources?.limits?.["memory"]),
  };
}

/** Defaults with overrides of the environment. */
export function withOverrides(defaults: ResourceAmounts, over: StatedAmounts): ResourceAmounts {
  return {
    cpu_request: over.cpu_request ?? defaults.cpu_request,
    memory_request: over.memory_request ?? defaults.memory_request,
    cpu_limit: over.cpu_limit ?? defaults.cpu_limit,
    memory_limit: over.memory_limit ?? defaults.memory_limit,
  };
}

/** Requirements below this get larger default resources, as in the design documents. */
const LOW_LATENCY_MS = 100;

/** Raises the defaults for a class that requires low latency. */
export function raiseForLatency(defaults: ResourceAmounts, latencyMs: number | undefined): ResourceAmounts {
  if (latencyMs === undefined || latencyMs >= LOW_LATENCY_MS) return defaults;
  const cpu = larger(defaults.cpu_request, "500m");
  const memory = larger(defaults.memory_request, "512Mi");
  return {
    cpu_request: cpu,
    memory_request: memory,
    cpu_limit: larger(defaults.cpu_limit, cpu),
    memory_limit: larger(defaults.memory_limit, memory),
  };
}

/**
 * Replaces default requests by those that enforcement chose. A larger request raises the default limit by the same
 * factor, as the Vertical Pod Autoscaler does: a pod keeps its QoS class, without which it cannot be resized in place.
 * Default limits are never lowered. Requests and limits that the user states take precedence.
 */
export function withEnforcedRequests(
  defaults: ResourceAmounts,
  enforced: { readonly cpu?: number; readonly memory?: number } | undefined,
): ResourceAmounts {
  const { cpu, memory } = enforced ?? {};
  return {
    ...defaults,
    ...(cpu === undefined ? {} : raisedAmounts(defaults, "cpu", Math.ceil(cpu))),
    ...(memory === undefined ? {} : raisedAmounts(defaults, "memory", Math.ceil(memory))),
  };
}

function raisedAmounts(
  defaults: ResourceAmounts,
  resource: "cpu" | "memory",
  wanted: number,
): Partial<ResourceAmounts> {
  const text = (units: number): string => (resource === "cpu" ? `${units}m` : String(units));
  const limit = defaults[`${resource}_limit`];
  const before = unitsOf(defaults[`${resource}_request`], resource);
  const raised = before > 0 ? Math.ceil((unitsOf(limit, resource) * wanted) / before) : wanted;
  return { [`${resource}_request`]: text(wanted), [`${resource}_limit`]: larger(limit, text(raised)) };
}

/** Millicores or bytes; zero for an invalid quantity, which is rejected earlier. */
function unitsOf(amount: string, resource: "cpu" | "memory"): number {
  const parsed = parseQuantity(amount);
  return parsed.ok ? Number(quantityUnits(parsed.value, resource === "cpu" ? -3 : 0)) : 0;
}

function larger(a: string, b: string): string {
  return compareAmounts(a, b) >= 0 ? a : b;
}

function smaller(a: string, b: string): string {
  return compareAmounts(a, b) <= 0 ? a : b;
}

/** Invalid quantities are rejected earlier and compare as equal here. */
function compareAmounts(a: string, b: string): number {
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  return left.ok && right.ok ? compareQuantities(left.value, right.value) : 0;
}
