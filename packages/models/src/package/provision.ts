import { ROOT_PATH, pathOf, type Violation } from "@oaas/foundation";
import { quantityNanos } from "../fields/quantity.ts";
import type { PodSettings } from "./pod-settings.ts";

/** Container, resources, scale and pod of a function. */
export interface ProvisionConfig extends PodSettings {
  readonly containerImage?: string;
  readonly wasmModuleUrl?: string;
  readonly port?: number;
  /** Concurrent requests per replica; 0: unlimited. */
  readonly maxConcurrency: number;
  readonly needHttp2: boolean;
  readonly cpuRequest?: string;
  readonly memoryRequest?: string;
  readonly cpuLimit?: string;
  readonly memoryLimit?: string;
  readonly minScale?: number;
  readonly maxScale?: number;
}

/** Empty provision. */
export const EMPTY_PROVISION: ProvisionConfig = { maxConcurrency: 0, needHttp2: false };

/** Fields of the rules across fields, with their names in documents. */
export interface ProvisionFields {
  readonly cpu_request?: string | undefined;
  readonly cpu_limit?: string | undefined;
  readonly memory_request?: string | undefined;
  readonly memory_limit?: string | undefined;
  readonly min_scale?: number | undefined;
  readonly max_scale?: number | undefined;
}

/** Checks that no lower bound exceeds its upper bound. */
export function checkProvisionBounds(fields: ProvisionFields, path: string = ROOT_PATH): Violation[] {
  const violations: Violation[] = [];
  const { min_scale, max_scale } = fields;
  if (min_scale !== undefined && max_scale !== undefined && min_scale > max_scale) {
    violations.push({
      path: pathOf(path, "max_scale"),
      message: `${max_scale} is below min_scale (${min_scale})`,
      fix: `raise max_scale to at least ${min_scale} or lower min_scale`,
    });
  }
  if (isAbove(fields.cpu_request, fields.cpu_limit)) {
    violations.push(limitBelow("cpu", fields.cpu_request, fields.cpu_limit, path));
  }
  if (isAbove(fields.memory_request, fields.memory_limit)) {
    violations.push(limitBelow("memory", fields.memory_request, fields.memory_limit, path));
  }
  return violations;
}

function limitBelow(
  resource: "cpu" | "memory",
  request: string | undefined,
  limit: string | undefined,
  path: string,
): Violation {
  return {
    path: pathOf(path, `${resource}_limit`),
    message: `${limit} is below ${resource}_request (${request})`,
    fix: `raise ${resource}_limit to at least ${request} or lower ${resource}_request`,
  };
}

function isAbove(request: string | undefined, limit: string | undefined): boolean {
  if (request === undefined || limit === undefined) return false;
  const [low, high] = [quantityNanos(request), quantityNanos(limit)];
  return low !== undefined && high !== undefined && low > high;
}
