import { quantityNanos } from "@oaas/models";
import type { FunctionSpec } from "../plan-types.ts";
import { isCode } from "./functions.ts";

/** CPU and memory that a replica requests. */
export interface ResourceRequests {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
}

/** What a replica needs of a node. */
export interface ReplicaNeeds extends ResourceRequests {
  /** Extended resources, such as nvidia.com/gpu, by name. */
  readonly extended: Readonly<Record<string, number>>;
}

/** The requests of a replica that the deployment states; a resource without a request counts nothing. */
export function statedRequests({ provision }: Pick<FunctionSpec, "provision">): ReplicaNeeds {
  return {
    cpuMillicores: amountOf(provision.cpuRequest, 1_000_000n) ?? 0,
    memoryBytes: amountOf(provision.memoryRequest, 1_000_000_000n) ?? 0,
    extended: extendedRequests(provision.resources),
  };
}

/** Kubernetes requests what the limit says. */
function extendedRequests({ limits = {} }: NonNullable<FunctionSpec["provision"]["resources"]> = {}) {
  const all = Object.entries(limits).map(
    ([name, limit]) => [name, amountOf(String(limit), 1_000_000_000n) ?? 0] as const,
  );
  // Only extended resources have a name with a domain.
  return Object.fromEntries(all.filter(([name, amount]) => name.includes("/") && amount > 0));
}

/** The requests of a replica with the usual defaults of templates, and whether a default was needed. */
export function assumedRequests({ provision }: Pick<FunctionSpec, "provision">): ResourceRequests & {
  readonly isAssumed: boolean;
} {
  const cpu = amountOf(provision.cpuRequest, 1_000_000n);
  const memory = amountOf(provision.memoryRequest, 1_000_000_000n);
  return {
    cpuMillicores: cpu ?? FUNCTION_DEFAULTS.cpuMillicores,
    memoryBytes: memory ?? FUNCTION_DEFAULTS.memoryBytes,
    isAssumed: cpu === undefined || memory === undefined,
  };
}

const MI = 2 ** 20;

/** The defaults of most templates of the class runtime manager. */
const FUNCTION_DEFAULTS: ResourceRequests = { cpuMillicores: 100, memoryBytes: 256 * MI };

/** A node of the state store, whose requests only templates and environments set. */
export const STORE_NODE_REQUESTS: ResourceRequests = { cpuMillicores: 200, memoryBytes: 512 * MI };

function amountOf(text: string | undefined, nanosPerUnit: bigint): number | undefined {
  const nanos = text === undefined ? undefined : quantityNanos(text);
  return nanos === undefined ? undefined : Number(nanos / nanosPerUnit);
}

/** Whether a function runs in its own pods. */
export function hasOwnPods({ functionType, provision }: Pick<FunctionSpec, "functionType" | "provision">): boolean {
  return isCode(functionType) && provision.wasmModuleUrl === undefined;
}
