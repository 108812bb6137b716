import type { UnitId } from "../fields/ids.ts";

/** The present usage of the pods of one component, from the metrics API of its cluster. */
export interface ComponentUsage {
  readonly unitId: UnitId;
  readonly namespace: string;
  /** Function key, or `odgm`. */
  readonly component: string;
  /** Pods with measurements. */
  readonly pods: number;
  /** Sum over the pods, as are the bytes. */
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
  /** Of the busiest and of the largest pod. */
  readonly maxCpuMillicores: number;
  readonly maxMemoryBytes: number;
  /** Of the oldest measurement. */
  readonly observedAt?: string;
}
