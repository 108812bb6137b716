import type { NodeShape } from "@oaas/models";
import { pluralize } from "../explanation/format.ts";
import type { CandidateCluster, DeploymentPlan, PlannedUnit, Reason, SharedSpec } from "../plan-types.ts";
import { hasOwnPods, statedRequests, type ResourceRequests } from "../sizing/resource-requests.ts";

/** Replicas of one function that a plan adds to a cluster. */
interface AddedReplicas extends ResourceRequests {
  readonly functionKey: string;
  readonly replicas: number;
}

/**
 * Why the replicas of a unit cannot fit into what the cluster reports as free; undefined if they may fit. Replicas that
 * run there already need no further room. Only what certainly does not fit is a problem: the free amounts of a shape
 * count together, as if pods could be cut.
 */
export function missingCapacity(
  unit: Pick<PlannedUnit, "cluster" | "functions">,
  shared: Pick<SharedSpec, "functions">,
  previous: DeploymentPlan | undefined,
  { reading }: Pick<CandidateCluster, "reading">,
): Reason | undefined {
  const shapes = reading?.offer?.shapes;
  if (shapes === undefined) return undefined;
  const added = addedReplicas(unit, shared, previous);
  for (const one of added) {
    const room = roomFor(one, shapes);
    if (room < one.replicas)
      return noCapacity(
        `${one.replicas} more of ${one.functionKey} (${sizeText(one)} each)`,
        `at most ${room} fit`,
        shapes,
      );
  }
  const total = sumOf(added);
  const free = freeIn(shapes);
  if (
    total.cpuMillicores > free.cpuMillicores ||
    total.memoryBytes > free.memoryBytes ||
    total.replicas > free.replicas
  )
    return noCapacity(
      `${pluralize(total.replicas, "more replica")} (${sizeText(total)} together)`,
      "not all fit",
      shapes,
    );
  return undefined;
}

function addedReplicas(
  { cluster, functions }: Pick<PlannedUnit, "cluster" | "functions">,
  shared: Pick<SharedSpec, "functions">,
  previous: DeploymentPlan | undefined,
): readonly AddedReplicas[] {
  const before = previous?.units.find((unit) => unit.cluster === cluster);
  return shared.functions.flatMap((spec) => {
    const scale = functions.find(({ functionKey }) => functionKey === spec.functionKey);
    if (scale === undefined || !hasOwnPods(spec)) return [];
    const running = before?.functions.find(({ functionKey }) => functionKey === spec.functionKey)?.minScale ?? 0;
    const replicas = scale.minScale - running;
    return replicas <= 0 ? [] : [{ functionKey: spec.functionKey, replicas, ...statedRequests(spec) }];
  });
}

function roomFor({ cpuMillicores, memoryBytes }: ResourceRequests, shapes: readonly NodeShape[]): number {
  const times = (free: number, each: number): number =>
    each === 0 ? Number.POSITIVE_INFINITY : Math.floor(free / each);
  return shapes.reduce((room, shape) => {
    if (shape.largestFreeCpuMillicores < cpuMillicores || shape.largestFreeMemoryBytes < memoryBytes) return room;
    return (
      room +
      Math.min(shape.freePods, times(shape.freeCpuMillicores, cpuMillicores), times(shape.freeMemoryBytes, memoryBytes))
    );
  }, 0);
}

function sumOf(added: readonly AddedReplicas[]): ResourceRequests & { readonly replicas: number } {
  const zero = { cpuMillicores: 0, memoryBytes: 0, replicas: 0 };
  return added.reduce(
    (sum, one) => ({
      cpuMillicores: sum.cpuMillicores + one.cpuMillicores * one.replicas,
      memoryBytes: sum.memoryBytes + one.memoryBytes * one.replicas,
      replicas: sum.replicas + one.replicas,
    }),
    zero,
  );
}

function freeIn(shapes: readonly NodeShape[]): ReturnType<typeof sumOf> {
  const sum = (amount: (shape: NodeShape) => number): number => shapes.reduce((all, shape) => all + amount(shape), 0);
  return {
    cpuMillicores: sum((shape) => shape.freeCpuMillicores),
    memoryBytes: sum((shape) => shape.freeMemoryBytes),
    replicas: sum((shape) => shape.freePods),
  };
}

function noCapacity(needed: string, but: string, shapes: readonly NodeShape[]): Reason {
  const free = freeIn(shapes);
  const nodes = shapes.reduce((sum, shape) => sum + shape.nodes, 0);
  return {
    code: "no-capacity",
    text:
      `it has no room for ${needed}: ${but} into ${sizeText(free)} and ${pluralize(free.replicas, "pod")} free on ` +
      `${pluralize(nodes, "node")}; add nodes, or lower cpu_request, memory_request or min_scale`,
  };
}

function sizeText({ cpuMillicores, memoryBytes }: ResourceRequests): string {
  const gib = Math.round((memoryBytes / 2 ** 30) * 100) / 100;
  return `${cpuMillicores / 1000} CPU and ${gib} GiB`;
}
