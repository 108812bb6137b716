/** Replica counts of a function; absent for a function without pods, and from class runtime managers of earlier releases. */
interface FunctionReplicas {
  readonly desired_replicas?: number | undefined;
  readonly ready_replicas?: number | undefined;
  readonly updated_replicas?: number | undefined;
}

/** Ready replicas of all desired replicas, as `3/4`; `-` without counts. */
export function readyText(functions: readonly FunctionReplicas[]): string {
  const counted = functions.filter(({ desired_replicas }) => desired_replicas !== undefined);
  if (counted.length === 0) return "-";
  return `${sum(counted, "ready_replicas")}/${sum(counted, "desired_replicas")}`;
}

/** Ready replicas of the desired revision; `-` without counts. */
export function upToDateText(functions: readonly FunctionReplicas[]): string {
  const counted = functions.filter(({ updated_replicas }) => updated_replicas !== undefined);
  return counted.length === 0 ? "-" : String(sum(counted, "updated_replicas"));
}

function sum(functions: readonly FunctionReplicas[], count: keyof FunctionReplicas): number {
  return functions.reduce((total, { [count]: value = 0 }) => total + value, 0);
}
